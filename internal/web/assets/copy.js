// Shows the copy buttons, which need a script.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) break; // plain HTTP: the text can be selected
  const label = button.textContent;
  const status = document.createElement("span");
  status.className = "unseen";
  status.setAttribute("role", "status");
  button.after(status);
  button.hidden = false;
  const subject = document.getElementById(button.dataset.copy);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(subject.textContent.trimEnd());
      button.textContent = status.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(subject);
      button.textContent = status.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = label; status.textContent = ""; }, 3000);
  });
}
