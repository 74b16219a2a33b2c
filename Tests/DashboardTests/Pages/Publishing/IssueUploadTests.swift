import Foundation
import NIOHTTP1
import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct IssueUploadTests {
    private static let file = (name: "issue \u{600}7.zip", content: String(repeating: "seven ", count: 500_000))

    @Test func aFileLongerThanOtherFormsIsUploadedAndUsedAgain() async throws {
        try await withPublishingSite { site in
            let issue = try await site.addIssue(of: try await site.addPublication())
            let (browser, path) = (site.browser, site.path(ofIssue: issue))
            let page = try await browser.get(path)
            #expect(page.contains("martlet issue upload \(issue)"))
            let fields = ["place": "rendition", "screenSize": "1536x2048"]
            let set = try await browser.upload("\(path)/upload", fields, file: Self.file, from: page)
            #expect(set.status == 200 && set.contains("Uploaded and checked"))
            #expect(set.contains("2048x1536") && set.contains("3 MB") && set.contains("issue \u{600}7.zip"))
            let stored = try await site.provider.api.get("/v1/issues/\(issue)").json["renditions"].elements
            #expect(stored.first?["file"]["size"] == 3_000_000)
            let hash = try #require(stored.first?["file"]["sha256"].stringValue)
            // The same file for another size, without sending it again.
            let known = try await browser.upload(
                "\(path)/upload",
                ["place": "rendition", "screenSize": "1024x768", "known": hash],
                file: ("", ""),
                from: set
            )
            #expect(known.status == 200 && known.contains("1024x768"))
            let cover = try await browser.upload(
                "\(path)/upload",
                ["place": "cover"],
                file: ("c.png", "GIF89a"),
                from: known
            )
            #expect(cover.contains("c.png"))
            let removed = try await browser.post("\(path)/files/cover/remove", [:], from: cover)
            #expect(removed.status == 200 && !removed.contains("<td>c.png</td>"))
        }
    }

    @Test func theErrorIsAtTheFieldAndTheFileStays() async throws {
        try await withPublishingSite { site in
            let issue = try await site.addIssue(of: try await site.addPublication())
            let (browser, path) = (site.browser, site.path(ofIssue: issue))
            let page = try await browser.get(path)
            let none = try await browser.post("\(path)/upload", ["place": "cover"], from: page)
            #expect(none.status == 400 && none.contains("upload-file-problem"))
            for size in ["", "wide", Browser.markup] {
                let fields = ["place": "rendition", "screenSize": size]
                let wrong = try await browser.upload("\(path)/upload", fields, file: ("a.zip", "content"), from: page)
                #expect(
                    wrong.status == 400 && wrong.contains("upload-screenSize-problem") && !wrong.hasMarkup,
                    "\(size)"
                )
                // The file has arrived, and can be chosen.
                #expect(wrong.contains("a.zip (7 B"))
            }
            let fields = ["place": "cover", "known": String(repeating: "a", count: 64)]
            let unknown = try await browser.post("\(path)/upload", fields, from: page)
            #expect(unknown.status == 409 && unknown.contains("upload-file-problem"))
        }
    }

    @Test func aFormThatBreaksOffLeavesNothing() async throws {
        try await withPublishingSite { site in
            let issue = try await site.addIssue(of: try await site.addPublication())
            let path = site.path(ofIssue: issue)
            let csrf = try await site.browser.get(path).csrf ?? ""
            func form(_ text: String) async throws -> Browser.Page {
                try await site.browser.request(
                    "POST",
                    "\(path)/upload",
                    text,
                    headers: ["content-type": "multipart/form-data; boundary=b"]
                )
            }
            func part(_ name: String, _ value: String) -> String {
                "--b\r\ncontent-disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
            }
            let file = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.zip\"\r\n\r\nhalf of it"
            #expect(try await form(part("csrf", csrf) + part("place", "cover") + file).status == 400)
            // The token counts only before the file.
            #expect(try await form(file + "\r\n" + part("csrf", csrf) + "--b--").status == 403)
            #expect(try await form(part("csrf", "guess") + file + "\r\n--b--").status == 403)
            for garbage in ["", "--b", "--b--", part("csrf", csrf) + "--b\r\n\r\n", "\u{0}\u{1}"] {
                #expect([400, 403].contains(try await form(garbage).status))
            }
            let files = try await site.provider.api.get("/v1/apps/\(Vectors.bundleID)/files").json["files"].elements
            #expect(files.isEmpty)
            #expect(try await site.provider.api.get("/v1/issues/\(issue)").json["cover"] == .null)
        }
    }

    @Test func aFileThatIsTooLongIsRefused() async throws {
        try await withDashboard(configure: { $0.publishing.maximumFile = 100_000 }) { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let site = PublishingSite(provider: provider, browser: browser)
            let issue = try await site.addIssue(of: try await site.addPublication())
            let path = site.path(ofIssue: issue)
            let file = (name: "long.zip", content: String(repeating: "a", count: 150_000))
            let page = try await browser.get(path)
            let refused = try await browser.upload("\(path)/upload", ["place": "cover"], file: file, from: page)
            #expect(refused.status == 413 && refused.contains("upload-file-problem"))
            #expect(refused.contains("a file has at most 100000 bytes here"))
        }
    }

    @Test func whoMayNotSendUploadsNothing() async throws {
        try await withPublishingSite { site in
            let issue = try await site.addIssue(of: try await site.addPublication())
            let path = site.path(ofIssue: issue)
            try await site.browser.signIn("read", at: site.provider)
            let page = try await site.browser.get(path)
            #expect(!page.contains("type=\"file\""))
            let file = (name: "a.zip", content: "content")
            #expect(
                try await site.browser.upload("\(path)/upload", ["place": "cover"], file: file, from: page).status
                    == 403
            )
            let files = try await site.provider.api.get("/v1/apps/\(Vectors.bundleID)/files").json["files"].elements
            #expect(files.isEmpty)
        }
    }
}
