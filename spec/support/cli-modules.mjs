// Loads the modules of a project, but not its packages, anew for each run of the program.
let places;
let run = '';

export function initialize(given) {
  places = given;
}

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (found.url.startsWith(`${places.program}?`)) run = new URL(found.url).search;
  const isOfProject = found.url.startsWith(places.project) && !found.url.includes('/node_modules/');
  return isOfProject ? { ...found, url: `${found.url}${run}` } : found;
}
