import Foundation
import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct EntitlementPagesTests {
    private static let path = "\(PublishingSite.path)/entitlement"
    private static let url = "https://publisher.example.com:443/entitlements"

    @Test func theServerIsSetWithItsSecretShownOnceAndRemoved() async throws {
        try await withPublishingSite { site in
            let (browser, api) = (site.browser, site.provider.api)
            let empty = try await browser.get(Self.path)
            #expect(empty.contains("martlet entitlement set") && empty.contains("serve.publishing.appStoreRoot"))
            let added = try await browser.post(Self.path, ["url": Self.url, "whenDown": "refuse"], from: empty)
            let secret = try #require(added.text.firstMatch(of: #/id="secret">([^<]+)</#)).1
            #expect(secret.count >= 16)
            let page = try await browser.get(Self.path)
            #expect(page.contains(Self.url) && page.contains("nobody is entitled") && !page.contains(String(secret)))
            let kept = try await browser.post(Self.path, ["url": Self.url, "form": "xml"], from: page)
            #expect(kept.contains("Saved.") && kept.contains("direct entitlement"))
            let own = "a secret of one's own".replacingOccurrences(of: " ", with: "-")
            let set = try await browser.post(Self.path, ["url": Self.url, "secret": own], from: page)
            #expect(set.contains("Saved.") && !set.contains(own))
            let removed = try await browser.post("\(Self.path)/remove", [:], from: set)
            #expect(removed.contains("Removed.") && removed.contains("martlet entitlement set"))
            #expect(try await api.get("/v1/apps/\(Vectors.bundleID)/entitlement").status == 404)
            #expect(try await browser.post("\(Self.path)/remove", [:], from: removed).status == 404)
        }
    }

    @Test func theErrorIsAtTheField() async throws {
        try await withPublishingSite { site in
            let browser = site.browser
            let page = try await browser.get(Self.path)
            for (fields, name) in [
                (["url": Browser.markup], "url"), (["url": "http://127.0.0.1/"], "url"), (["url": ""], "url"),
                (["url": Self.url, "secret": "short"], "secret"), (["url": Self.url, "form": "csv"], "form"),
            ] {
                let wrong = try await browser.post(Self.path, fields, from: page)
                #expect(wrong.status == 400 && wrong.contains("set-\(name)-problem") && !wrong.hasMarkup, "\(fields)")
                #expect(!wrong.contains("short\""), "a secret is not shown again")
            }
            _ = try await browser.post(Self.path, ["url": Self.url], from: page)
            for (fields, name) in [
                (["productIds": "issue7"], "account"), (["account": "alice", "productIds": " "], "productIds"),
            ] {
                let wrong = try await browser.post("\(Self.path)/test", fields, from: page)
                #expect(wrong.status == 400 && wrong.contains("test-\(name)-problem"), "\(fields)")
            }
        }
    }

    @Test func aTestShowsTheExchangeWithoutTheToken() async throws {
        try await withDashboard(configure: { $0.webhookAddresses = AddressPolicy(allowsPrivate: true) }) {
            provider,
            browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get(Self.path)
            // Nothing answers here with what can be used.
            _ = try await browser.post(Self.path, ["url": "\(provider.api.baseURL)/nowhere"], from: page)
            let fields = ["account": "alice", "authToken": "confidential-token", "productIds": "a\nb"]
            let test = try await browser.post("\(Self.path)/test", fields, from: page)
            #expect(test.status == 200 && test.contains("No usable answer") && test.contains("HTTP 404"))
            #expect(test.contains("alice") && !test.contains("confidential-token"))
        }
    }

    @Test func aLesserRoleSeesNothing() async throws {
        try await withPublishingSite { site in
            let page = try await site.browser.get(Self.path)
            _ = try await site.browser.post(Self.path, ["url": Self.url], from: page)
            try await site.browser.signIn("read", "send", at: site.provider)
            let list = try await site.browser.get(PublishingSite.path)
            #expect(!list.contains(Self.path))
            #expect(try await site.browser.get(Self.path).status == 403)
            for form in [Self.path, "\(Self.path)/test", "\(Self.path)/remove"] {
                #expect(try await site.browser.post(form, ["url": Self.url], from: list).status == 403, "\(form)")
            }
            #expect(
                try await site.provider.api.get("/v1/apps/\(Vectors.bundleID)/entitlement").json["url"].stringValue
                    == Self.url
            )
        }
    }
}
