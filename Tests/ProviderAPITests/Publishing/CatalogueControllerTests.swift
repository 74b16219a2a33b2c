import Foundation
import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import Testing

/// What an app asks for with its public key.
@Suite(.timeLimit(.patience)) struct CatalogueControllerTests {
    private static let content = Data((0..<200_000).map { UInt8($0 % 241) })
    private static let catalogue = "\(PublishingFixture.app)/catalogue"

    private static func download(
        _ fixture: PublishingFixture,
        _ product: String,
        screen: String = "2048x1536"
    ) async throws -> JSONClient.Response {
        let path = "\(PublishingFixture.app)/issues/\(product):download"
        return try await fixture.reader.post(path, ["screenSize": .string(screen)])
    }

    /// A client without a key, as for signed addresses.
    private static func open(_ fixture: PublishingFixture) -> JSONClient {
        var api = fixture.reader
        api.apiKey = nil
        return api
    }

    @Test func theCatalogueHasPublishedIssuesInPages() async throws {
        try await withPublishing { fixture in
            let file = try await fixture.upload(Self.content)
            let image = try await fixture.upload(PublishingFixture.image, type: "application/octet-stream")
            for number in 1...5 {
                let id = try await fixture.addIssue(
                    "issue\(number)",
                    date: "2026-01-0\(number)",
                    renditions: ["1024x768": file],
                    publishes: number < 5
                )
                _ = try await fixture.api.put("/v1/issues/\(id)/cover", ["file": .string(image)])
            }
            let first = try await fixture.reader.get("\(Self.catalogue)?limit=3")
            let entry = try #require(first.json["issues"].elements.first)
            #expect(entry["productId"] == "issue4" && entry["publicationName"] == "The Example")
            #expect(entry["renditions"].elements.first?["sha256"] == .string(file))
            let next = try #require(first.json["next"].stringValue)
            let second = try await fixture.reader.get("\(Self.catalogue)?limit=3&cursor=\(next)")
            #expect(second.json["issues"].elements.map { $0["productId"].stringValue } == ["issue1"])
            let cover = try #require(entry["cover"]["url"].stringValue)
            let shown = try await Self.open(fixture).get(cover)
            #expect(shown.status == 200 && shown.body == PublishingFixture.image)
            #expect(shown.headers["content-type"] == "image/png")
            #expect(shown.headers["content-security-policy"] == "sandbox; default-src 'none'")
        }
    }

    /// A reader that signs in gets the library of its account, and what is another's is not there.
    @Test func theIssuesOfAnAccountAreThoseOfItsReaders() async throws {
        try await withPublishing { fixture in
            let file = try await fixture.upload(Self.content)
            _ = try await fixture.addIssue("open", renditions: ["1024x768": file])
            let change = Data(#"{"account":"north"}"#.utf8)
            let open = try #require(try await fixture.reader.get(Self.catalogue).headers["etag"])
            _ = try await fixture.api.call("PATCH", "/v1/publications/\(fixture.publication)", change)
            let (own, other) = ("\(Self.catalogue)?account=north", "\(Self.catalogue)?account=south")
            let seen = try await fixture.reader.get(own)
            #expect(seen.json["issues"].elements.count == 1)
            let tag = try #require(seen.headers["etag"])
            let headers = ["if-none-match": "\(tag), \(open)"]
            #expect(try await fixture.reader.call("GET", own, nil, headers: headers).status == 304)
            let none = try await fixture.reader.call("GET", other, nil, headers: headers)
            #expect(none.status == 200 && none.json["issues"] == [])
            let path = "\(PublishingFixture.app)/issues/open:download"
            let refused = try await fixture.reader.post(path, ["screenSize": "1024x768", "account": "south"])
            #expect(refused.status == 404 && refused.code == "no_such_issue")
            let allowed = try await fixture.reader.post(path, ["screenSize": "1024x768", "account": "north"])
            #expect(allowed.status == 200)
        }
    }

    @Test func theTagOfTheCatalogueHoldsUntilAChange() async throws {
        try await withPublishing { fixture in
            let id = try await fixture.addIssue("issue1")
            let first = try await fixture.reader.get(Self.catalogue)
            let tag = try #require(first.headers["etag"])
            let same = try await fixture.reader.call(
                "GET",
                Self.catalogue,
                nil,
                headers: ["if-none-match": "W/\(tag), \"x\""]
            )
            #expect(same.status == 304 && same.body.isEmpty && same.headers["etag"] == tag)
            // What the catalogue does not show changes nothing.
            _ = try await fixture.addIssue("draft", publishes: false)
            let publication = try #require(first.json["issues"].elements.first?["publication"].stringValue)
            let waves = Data(#"{"waves":{"size":7}}"#.utf8)
            _ = try await fixture.api.call("PATCH", "/v1/publications/\(publication)", waves)
            let unchanged = try await fixture.reader.get(Self.catalogue)
            #expect(unchanged.headers["etag"] == tag)
            _ = try await fixture.api.call("PATCH", "/v1/issues/\(id)", Data(#"{"title":"New"}"#.utf8))
            let new = try await fixture.reader.call("GET", Self.catalogue, nil, headers: ["if-none-match": tag])
            #expect(new.status == 200 && new.json["issues"].elements.first?["title"] == "New")
            try await fixture.api.post("/v1/issues/\(id):withdraw", [:])
            let empty = try await fixture.reader.get(Self.catalogue)
            #expect(empty.json["issues"].elements.isEmpty && empty.headers["etag"] != new.headers["etag"])
        }
    }

    @Test func entitlementsAreDecidedForEachProduct() async throws {
        try await withPublishing { fixture in
            _ = try await fixture.addIssue("free")
            _ = try await fixture.addIssue("paid", access: "retail")
            _ = try await fixture.addIssue("draft", publishes: false)
            let withdrawn = try await fixture.addIssue("old")
            try await fixture.api.post("/v1/issues/\(withdrawn):withdraw", [:])
            let products: JSONValue = ["paid", "free", "draft", "old", "nothing"]
            let path = "\(PublishingFixture.app)/entitlements"
            let decided = try await fixture.reader.post(path, ["productIds": products, "transactions": ["a.b.c"]])
            let entries = decided.json["entitlements"].elements
            #expect(entries.map { $0["productId"].stringValue } == ["paid", "free", "draft", "old", "nothing"])
            #expect(entries.map { $0["entitled"] } == [false, true, false, false, false])
            #expect(entries[1]["by"] == "free" && entries[0]["reason"] == "no_app_store_root")
            #expect(entries[2]["reason"] == "no_such_issue" && entries[4]["reason"] == "no_such_issue")
            #expect(entries[3]["reason"] == "issue_withdrawn")
            for body: JSONValue in [[:], ["productIds": []], ["productIds": "a"], ["productIds": ["a"], "x": 1]] {
                #expect(try await fixture.reader.post(path, body).status == 400)
            }
        }
    }

    @Test func aDownloadIsTheNearestRenditionThatIsNotLarger() async throws {
        try await withPublishing { fixture in
            let (small, large) = (try await fixture.upload(Self.content), try await fixture.upload(Self.content + [1]))
            _ = try await fixture.addIssue("issue1", renditions: ["1024x768": small, "2048x1536": large])
            let exact = try await Self.download(fixture, "issue1")
            #expect(exact.json["match"] == "exact" && exact.json["sha256"] == .string(large))
            #expect(exact.json["entitledBy"] == "free" && exact.json["size"] == 200_001)
            let smaller = try await Self.download(fixture, "issue1", screen: "1334x768")
            #expect(smaller.json["match"] == "smaller" && smaller.json["screenSize"] == "1024x768")
            let none = try await Self.download(fixture, "issue1", screen: "480x320")
            #expect(none.status == 409 && none.code == "no_rendition")
            #expect(try await Self.download(fixture, "issue1", screen: "big").code == "invalid_value")
            #expect(try await Self.download(fixture, "nothing").code == "no_such_issue")
            _ = try await fixture.addIssue("paid", access: "retail", renditions: ["1024x768": small])
            let refused = try await Self.download(fixture, "paid")
            #expect(refused.status == 403 && refused.code == "not_entitled")
        }
    }

    @Test func aFileIsSentWholeAndInParts() async throws {
        try await withPublishing { fixture in
            let file = try await fixture.upload(Self.content)
            _ = try await fixture.addIssue("issue1", renditions: ["1024x768": file])
            let url = try #require(try await Self.download(fixture, "issue1").json["url"].stringValue)
            let api = Self.open(fixture)
            func get(_ headers: [String: String], _ method: String = "GET") async throws -> JSONClient.Response {
                try await api.call(method, url, nil, headers: headers)
            }
            let tag = "\"\(file)\""
            let whole = try await get([:])
            #expect(whole.status == 200 && whole.body == Self.content && whole.headers["etag"] == tag)
            #expect(whole.headers["accept-ranges"] == "bytes" && whole.headers["content-type"] == "application/zip")
            let part = try await get(["range": "bytes=100-199"])
            #expect(part.status == 206 && part.body == Self.content[100..<200])
            #expect(part.headers["content-range"] == "bytes 100-199/200000")
            let rest = try await get(["range": "bytes=150000-", "if-range": tag])
            #expect(rest.status == 206 && rest.body == Self.content[150_000...])
            #expect(try await get(["range": "bytes=1-2", "if-range": "\"other\""]).status == 200)
            #expect(try await get(["range": "bytes=1-2,5-6"]).body == Self.content)
            let beyond = try await get(["range": "bytes=200000-"])
            #expect(beyond.status == 416 && beyond.headers["content-range"] == "bytes */200000")
            #expect(try await get(["if-none-match": tag]).status == 304)
            let head = try await get(["range": "bytes=1-2"], "HEAD")
            #expect(head.status == 200 && head.headers["content-length"] == "200000" && head.body.isEmpty)
            let text = String(decoding: try await fixture.api.get("/metrics").body, as: UTF8.self)
            #expect(text.contains(#"martlet_downloads_total{result="completed"} 5"#))
        }
    }

    @Test func aTamperedAddressIsRefused() async throws {
        let time = ManualTime()
        try await withPublishing(time: time) { fixture in
            let (file, other) = (try await fixture.upload(Self.content), try await fixture.upload(Data([1])))
            let id = try await fixture.addIssue("issue1", renditions: ["1024x768": file, "480x320": other])
            let url = try #require(try await Self.download(fixture, "issue1").json["url"].stringValue)
            let api = Self.open(fixture)
            let end = "\(time.now.advanced(by: .seconds(3600)).seconds)"
            let changed = [
                url.replacing(file, with: other), url.replacing(id, with: UUID().uuidString),
                url.replacing("expires=\(end)", with: "expires=9999999999"), String(url.dropLast()),
                url.replacing("signature=", with: "signature=A"), url.replacing("issue=", with: "issue=x"),
                url.replacing("expires=\(end)", with: "expires=0x10"), "/v1/files/\(file)", "/v1/files/garbage",
            ]
            for address in changed {
                let response = try await api.get(address)
                #expect(response.status == 403 && response.code == "invalid_signature", "\(address)")
            }
            #expect(try await api.get("\(url)&more=1").code == "unknown_parameter")
            let head = try await api.call("HEAD", changed[0], nil)
            #expect(head.status == 403 && head.body.isEmpty)
            // The connection is usable after the response to HEAD.
            #expect(try await api.get(url).status == 200)
            time.advance(by: .seconds(3601))
            #expect(try await api.get(url).code == "address_expired")
        }
    }

    @Test func aWithdrawnIssueIsNotDownloadable() async throws {
        try await withPublishing { fixture in
            let file = try await fixture.upload(Self.content)
            let id = try await fixture.addIssue("issue1", renditions: ["1024x768": file])
            let url = try #require(try await Self.download(fixture, "issue1").json["url"].stringValue)
            try await fixture.api.post("/v1/issues/\(id):withdraw", [:])
            #expect(try await Self.open(fixture).get(url).code == "no_such_file")
            #expect(try await Self.download(fixture, "issue1").code == "issue_withdrawn")
            try await fixture.api.post("/v1/issues/\(id):publish", [:])
            #expect(try await Self.open(fixture).get(url).status == 200)
        }
    }

    private static func metrics(_ fixture: PublishingFixture) async throws -> String {
        String(decoding: try await fixture.api.get("/metrics").body, as: UTF8.self)
    }

    /// A reader that takes nothing keeps its place until its deadline.
    @Test func tooManyDownloadsAreRefused() async throws {
        try await withPublishing(configure: { ($0.publishing.maximumDownloads, $0.publishing.bandwidth) = (1, 1) }) {
            fixture in
            let file = try await fixture.upload(Self.content)
            _ = try await fixture.addIssue("issue1", renditions: ["1024x768": file])
            let url = try #require(try await Self.download(fixture, "issue1").json["url"].stringValue)
            let api = Self.open(fixture)
            let slow = Task { try await api.get(url) }
            while try await !Self.metrics(fixture).contains("martlet_downloads_open 1") { try Task.checkCancellation() }
            let refused = try await api.get(url)
            #expect(
                refused.status == 503 && refused.code == "too_many_downloads" && refused.headers["retry-after"] != nil
            )
            slow.cancel()
            _ = await slow.result
        }
    }
}
