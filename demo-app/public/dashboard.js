// The browser sends the session cookie with the request.
const response = await fetch('/api/hello');
const text = response.ok ? await response.text() : `${response.status} ${response.statusText}`;
document.getElementById('hello').textContent = text;
