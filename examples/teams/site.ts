import { Router, urlencoded } from 'express';
import { currentUser, permits, requireMember, requireSession } from 'latchkey';
import { auth } from './auth.js';
import { html, page } from './html.js';
import { projectsOf, readName } from './projects.js';

/** The pages. Those of the account, of members and of invitations are latchkey's. */
export const site = Router();

const form = urlencoded({ extended: false });
const reads = requireMember(auth);
const writes = requireMember(auth, { permission: 'projects:write' });

site.get('/', requireSession(auth), async (req, res) => {
  const { organizations } = await auth.organizations.ofUser(currentUser(req).id);
  const { error } = auth.formValues(req, res);
  const links = organizations.map(
    ({ slug, name, role }) => html`<li><a href="/teams/${slug}">${name}</a> (${role})</li>`,
  );
  res.send(
    page(
      'Your teams',
      html`${error ? html`<p role="alert">That did not work: ${error}</p>` : ''}
        <ul>${links}</ul>
        <form method="post" action="/auth/organizations">
          <input type="hidden" name="error_to" value="/">
          <label>Name <input name="name" required></label>
          <label>Address <input name="slug" required pattern="[a-z0-9\\-]+"></label>
          <button>Create a team</button>
        </form>`,
    ),
  );
});

site.get('/teams/:organization', reads, async (req, res) => {
  const { id, slug, name } = req.auth.organization;
  const canWrite = permits(req, 'projects:write');
  const projects = (await projectsOf(id).list()).map(
    (project) =>
      html`<li>${project.name}${
        canWrite &&
        html` <form method="post" action="/teams/${slug}/projects/${project.id}/delete"><button>Delete</button></form>`
      }</li>`,
  );
  res.send(
    page(
      name,
      html`<ul>${projects}</ul>${
        canWrite &&
        html`<form method="post" action="/teams/${slug}/projects">
          <label>Name <input name="name" required maxlength="100"></label><button>Add a project</button>
        </form>`
      }`,
    ),
  );
});

site.post('/teams/:organization/projects', writes, form, async (req, res) => {
  const { id, slug } = req.auth.organization;
  const name = readName(req.body);
  if (name !== null) await projectsOf(id).add(name);
  res.redirect(303, `/teams/${slug}`);
});

site.post('/teams/:organization/projects/:id/delete', writes, async (req, res) => {
  const { id, slug } = req.auth.organization;
  if (!(await projectsOf(id).remove(String(req.params.id)))) return void res.sendStatus(404);
  res.redirect(303, `/teams/${slug}`);
});
