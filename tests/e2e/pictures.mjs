// pictures - each view of the page, light, dark and on a phone, as GILLNET_PICTURES/VIEW-light.webp and so on.
//
//   node pictures.mjs URL      GILLNET_TOKEN is an administrator's.
import fs from "node:fs";
import path from "node:path";

import { open, signedIn, to, viewsOf } from "../integ/page/browser.mjs";

const SIZES = { light: { width: 1280, height: 800 }, dark: { width: 1280, height: 800, dark: true }, phone: { width: 390, height: 800 } };
const QUALITY = 55;
const SETTLE_MS = 1200;

async function picture(it, name) {
  const session = await it.context.newCDPSession(it.page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  fs.writeFileSync(path.join(process.env.GILLNET_PICTURES, `${name}.webp`), Buffer.from(data, "base64"));
  await session.detach();
}
// What makes a view tell more than when it is opened.
const MORE = {
  messages: (page) => page.locator("#message-rows button").first().click(),
  "look-up": async (page) => {
    await page.fill("#value", "http://www.evil.example/login");
    await page.click("#look");
  },
  tune: async (page) => {
    await page.fill("#tune-field-quarantine", "6");
    await page.keyboard.press("Enter");
  },
};

const browser = await open();
for (const [kind, size] of Object.entries(SIZES)) {
  const it = await signedIn(browser, process.argv[2], size);
  for (const view of await viewsOf(it)) {
    await to(it, view);
    await it.page.waitForTimeout(SETTLE_MS);
    await MORE[view]?.(it.page);
    await it.page.waitForTimeout(SETTLE_MS);
    await it.page.evaluate(() => scrollTo(0, 0));
    await picture(it, `${view}-${kind}`);
  }
  await it.context.close();
}
await browser.close();
process.exit();
