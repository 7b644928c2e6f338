// Adds passkeys and signs in with them, which needs a script: a form with data-passkey asks that
// address for a challenge, the browser's authenticator for a response, and then sends itself.
"use strict";

for (const form of document.querySelectorAll("form[data-passkey]")) {
  // Old browsers, plain HTTP and other addresses of the server have no passkeys.
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON || location.origin !== form.dataset.origin) continue;
  for (const place of document.querySelectorAll("[data-passkey-shown]")) place.hidden = false;
  for (const place of document.querySelectorAll("[data-passkey-missing]")) place.hidden = true;
  const status = form.querySelector("[role=alert]");
  const button = form.querySelector("button");
  form.addEventListener("submit", async event => {
    event.preventDefault();
    status.textContent = "";
    button.disabled = true;
    try {
      const response = await fetch(form.dataset.passkey, {method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual"});
      if (response.type === "opaqueredirect") { // the session has ended, or the page needs a proof again
        location.replace(location.href);
        return;
      }
      const answer = await response.json();
      if (!response.ok) {
        status.textContent = answer.message ?? answer.error.message; // of the form, or of the server
        return;
      }
      const publicKey = "user" in answer.publicKey
        ? PublicKeyCredential.parseCreationOptionsFromJSON(answer.publicKey)
        : PublicKeyCredential.parseRequestOptionsFromJSON(answer.publicKey);
      const credential = await ("user" in publicKey ? navigator.credentials.create({publicKey}) : navigator.credentials.get({publicKey}));
      form.elements.passkey.value = JSON.stringify(credential);
      form.submit();
    } catch (problem) {
      status.textContent = problem.name === "InvalidStateError" ? "This device already has a passkey for your account." : form.dataset.cancelled;
    } finally {
      button.disabled = false;
    }
  });
}
