import { Router } from 'express';
import { requireMember } from 'latchkey';
import { auth } from './auth.js';
import { projectsOf, readName } from './projects.js';

/** The JSON API. Every route is below an organization, and has one guard. */
export const api = Router();

const reads = requireMember(auth);
const writes = requireMember(auth, { permission: 'projects:write' });

api.get('/:organization/projects', reads, async (req, res) => {
  res.json({ projects: await projectsOf(req.auth.organization.id).list() });
});

api.get('/:organization/projects/:id', reads, async (req, res) => {
  const project = await projectsOf(req.auth.organization.id).get(String(req.params.id));
  if (!project) return void res.sendStatus(404);
  res.json({ project });
});

api.post('/:organization/projects', writes, async (req, res) => {
  const name = readName(req.body);
  if (name === null) return void res.status(422).json({ code: 'invalid_name' });
  const project = await projectsOf(req.auth.organization.id).add(name);
  if (!project) return void res.status(409).json({ code: 'name_taken' });
  res.status(201).json({ project });
});

api.patch('/:organization/projects/:id', writes, async (req, res) => {
  const name = readName(req.body);
  if (name === null) return void res.status(422).json({ code: 'invalid_name' });
  const isThere = await projectsOf(req.auth.organization.id).rename(String(req.params.id), name);
  res.sendStatus(isThere ? 204 : 404);
});

api.delete('/:organization/projects/:id', writes, async (req, res) => {
  const wasThere = await projectsOf(req.auth.organization.id).remove(String(req.params.id));
  res.sendStatus(wasThere ? 204 : 404);
});
