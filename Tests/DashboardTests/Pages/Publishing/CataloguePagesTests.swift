import Foundation
import NIOHTTP1
import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct CataloguePagesTests {
    private static let path = "\(PublishingSite.path)/catalogue"

    @Test func theCatalogueIsThatOfReaders() async throws {
        try await withPublishingSite { site in
            let browser = site.browser
            #expect(try await browser.get(Self.path).contains("No published issue here"))
            let open = try await site.addPublication()
            let closed = try await site.addPublication(["name": "Members", "account": "7"])
            let issue = try await site.addIssue("open", of: open, title: "For everybody", isPublished: true)
            _ = try await site.addIssue("closed", of: closed, title: "For members", isPublished: true)
            _ = try await site.addIssue("draft", of: open, title: "Not yet")
            let form = try await browser.get(site.path(ofIssue: issue))
            let path = "\(site.path(ofIssue: issue))/upload"
            let refused = try await browser.upload(path, ["place": "cover"], file: ("c.png", "no image"), from: form)
            #expect(refused.status == 400 && refused.contains("a cover is an image"))
            let all = try await browser.get(Self.path)
            #expect(all.contains("For everybody") && !all.contains("For members") && !all.contains("Not yet"))
            #expect(all.contains("1024x768 (8 B)"))
            #expect(!all.contains("<img"))
            #expect(all.contains("name=\"account\" value=\"\""))
            let members = try await browser.get("\(Self.path)?account=7")
            #expect(members.contains("For members") && members.contains("name=\"account\" value=\"7\""))
        }
    }

    @Test func aCoverIsShownFromItsSignedAddress() async throws {
        try await withPublishingSite { site in
            let issue = try await site.addIssue(of: try await site.addPublication(), isPublished: true)
            let headers = ["content-type": "image/png"]
            let api = site.provider.api
            let file = try await api.call(
                "POST",
                "/v1/apps/\(Vectors.bundleID)/files",
                Data([0xff, 0xd8, 0xff, 1]),
                headers: headers
            )
            _ = try await api.put("/v1/issues/\(issue)/cover", ["file": file.json["sha256"]])
            let page = try await site.browser.get(Self.path)
            let address = try #require(page.text.firstMatch(of: #/<img src="([^"]+)"/#)).1
            let image = try await site.browser.get(address.replacingOccurrences(of: "&amp;", with: "&"))
            #expect(image.status == 200 && image.headers.first(name: "content-type") == "image/jpeg")
        }
    }

    /// Pages are kept as they are sent to readers.
    @Test func aPageThatIsKeptIsShown() async throws {
        try await withPublishingSite { site in
            _ = try await site.addIssue(of: try await site.addPublication(), title: "Kept", isPublished: true)
            let path = "/v1/apps/\(Vectors.bundleID)/catalogue:preview?limit=50"
            #expect(try await site.provider.api.get(path).json["issues"] != .null)
            #expect(try await site.browser.get(Self.path).contains("Kept"))
        }
    }

    @Test func aViewerSeesItAndItEscapes() async throws {
        try await withPublishingSite { site in
            let publication = try await site.addPublication(["name": .string(Browser.markup)])
            _ = try await site.addIssue(of: publication, title: Browser.markup, isPublished: true)
            try await site.browser.signIn("read", at: site.provider)
            let page = try await site.browser.get(Self.path)
            #expect(page.status == 200 && page.contains("&lt;script&gt;") && !page.hasMarkup)
            let account = try await site.browser.get("\(Self.path)?account=%22%3E%3Cscript%3Ealert(1)")
            #expect(account.status == 200 && !account.hasMarkup)
            #expect(try await site.browser.get("\(Self.path)?cursor=nonsense").status == 400)
        }
    }

    @Test func filesAreListedWithTheirUse() async throws {
        try await withPublishingSite { site in
            let path = "\(PublishingSite.path)/files"
            #expect(try await site.browser.get(path).contains("No file yet"))
            let issue = try await site.addIssue(of: try await site.addPublication())
            try await site.addRendition(to: issue, content: "used")
            let name = Browser.markup.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let files = "/v1/apps/\(Vectors.bundleID)/files"
            _ = try await site.provider.api.call("POST", "\(files)?name=\(name)", Data([1]), headers: [:])
            try await site.browser.signIn("read", at: site.provider)
            let page = try await site.browser.get(path)
            #expect(page.contains("in use") && page.contains("unused") && page.contains("issue.zip"))
            #expect(page.contains("&lt;script&gt;") && !page.hasMarkup)
            #expect(try await site.browser.get("\(path)?after=nonsense").status == 400)
        }
    }
}
