import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import Synchronization
import Testing

/// Publications and issues over the API.
@Suite(.timeLimit(.patience)) struct IssuesControllerTests {
    @Test func aPublicationIsAddedChangedAndRemoved() async throws {
        try await withPublishing { fixture in
            let path = "/v1/publications/\(fixture.publication)"
            let shown = try await fixture.api.get(path)
            #expect(shown.json["name"] == "The Example" && shown.json["waves"]["size"] == 10_000)
            let change: JSONValue = [
                "account": "A-1",
                "waves": ["size": 5, "steering": ["maximumDownloads": 20, "maximumBandwidth": 1_000_000]],
            ]
            let changed = try await fixture.api.call("PATCH", path, try change.text)
            #expect(changed.json["account"] == "A-1" && changed.json["waves"]["steering"]["maximumDownloads"] == 20)
            #expect(changed.json["waves"]["intervalSeconds"] == 300)
            let cleared: JSONValue = ["account": .null, "waves": ["steering": ["maximumDownloads": .null]]]
            let present = try await fixture.api.call("PATCH", path, try cleared.text)
            #expect(present.json["account"] == .null)
            #expect(present.json["waves"]["steering"]["maximumDownloads"] == .null)
            #expect(present.json["waves"]["steering"]["maximumBandwidth"] == 1_000_000)
            _ = try await fixture.addIssue("com.example.issue1", publishes: false)
            #expect(try await fixture.api.delete(path).code == "has_issues")
            #expect(
                try await fixture.api.get("\(PublishingFixture.app)/publications").json["publications"].elements.count
                    == 1
            )
        }
    }

    @Test func anIssueGoesFromDraftToWithdrawn() async throws {
        try await withPublishing { fixture in
            let file = try await fixture.upload(Data("an issue".utf8))
            let id = try await fixture.addIssue(
                "com.example.issue1",
                renditions: ["768x1024": file],
                publishes: false
            )
            let issue = try await fixture.api.get("/v1/issues/\(id)").json
            #expect(issue["state"] == "draft" && issue["date"] == "2026-11-20")
            #expect(issue["renditions"].elements.first?["screenSize"] == "1024x768")
            #expect(issue["renditions"].elements.first?["file"]["sha256"] == .string(file))
            #expect(try await fixture.api.post("/v1/issues/\(id):withdraw", [:]).code == "is_draft")
            #expect(try await fixture.api.post("/v1/issues/\(id):publish", [:]).json["state"] == "published")
            #expect(try await fixture.api.delete("/v1/issues/\(id)").code == "is_published")
            let renamed = try await fixture.api.call("PATCH", "/v1/issues/\(id)", Data(#"{"productId":"other"}"#.utf8))
            #expect(renamed.code == "was_published")
            #expect(try await fixture.api.post("/v1/issues/\(id):withdraw", [:]).json["state"] == "withdrawn")
            #expect(try await fixture.api.delete("/v1/issues/\(id)").status == 204)
            #expect(try await fixture.api.get("/v1/issues/\(id)").code == "no_such_issue")
        }
    }

    @Test func listsHaveThePagesOfAPublication() async throws {
        try await withPublishing { fixture in
            for number in 1...5 {
                _ = try await fixture.addIssue("issue\(number)", date: "2026-01-0\(number)", publishes: number > 2)
            }
            let path = "/v1/publications/\(fixture.publication)/issues"
            let first = try await fixture.api.get("\(path)?limit=3").json
            let next = try #require(first["next"].stringValue)
            let second = try await fixture.api.get("\(path)?limit=3&cursor=\(next)").json
            let products = (first["issues"].elements + second["issues"].elements).map { $0["productId"].stringValue }
            #expect(products == ["issue5", "issue4", "issue3", "issue2", "issue1"])
            #expect(second["next"] == .null)
            let drafts = try await fixture.api.get("\(path)?state=draft").json["issues"].elements
            #expect(drafts.map { $0["productId"].stringValue } == ["issue2", "issue1"])
        }
    }

    @Test(arguments: [
        (#"{"title":"a","date":"2026-01-01"}"#, "missing_field"),
        (#"{"productId":"a b","title":"a","date":"2026-01-01"}"#, "invalid_product_id"),
        (#"{"productId":"","title":"a","date":"2026-01-01"}"#, "invalid_value"),
        (#"{"productId":"a","title":"a","date":"2026-02-30"}"#, "invalid_date"),
        (#"{"productId":"a","title":"a","date":20260101}"#, "wrong_type"),
        (#"{"productId":"a","title":"a","date":"2026-01-01","access":"paid"}"#, "invalid_value"),
        (#"{"productId":"a","title":"a","date":"2026-01-01","isbn":"1"}"#, "unknown_field"),
        (#"["a"]"#, "invalid_json"), ("garbage", "invalid_json"), ("", "invalid_json"),
    ])
    func garbageIsRefused(body: String, code: String) async throws {
        try await withPublishing { fixture in
            let path = "/v1/publications/\(fixture.publication)/issues"
            let response = try await fixture.api.call("POST", path, Data(body.utf8))
            #expect(response.status == 400 && response.code == code)
        }
    }

    /// Whatever type it was uploaded with.
    @Test func aCoverIsAnImage() async throws {
        try await withPublishing { fixture in
            let id = try await fixture.addIssue("com.example.issue1")
            let path = "/v1/issues/\(id)/cover"
            let archive = try await fixture.upload(Data("PK no image".utf8), type: "image/png")
            let refused = try await fixture.api.put(path, ["file": .string(archive)])
            #expect(refused.status == 400 && refused.code == "not_an_image")
            #expect(try await fixture.api.get("/v1/issues/\(id)").json["cover"] == .null)
            let image = try await fixture.upload(PublishingFixture.image, type: "application/octet-stream")
            let set = try await fixture.api.put(path, ["file": .string(image)])
            #expect(set.status == 200 && set.json["cover"]["contentType"] == "image/png")
        }
    }

    @Test func publishingWithoutAFileWarns() async throws {
        try await withPublishing { fixture in
            let id = try await fixture.addIssue("com.example.issue1", publishes: false)
            let empty = try await fixture.api.post("/v1/issues/\(id):publish", [:])
            #expect(empty.status == 200 && empty.json["state"] == "published")
            #expect(empty.json["warnings"].elements.map { $0["field"] } == ["renditions"])
            let file = try await fixture.upload(Data("an issue".utf8))
            let set = try await fixture.api.put("/v1/issues/\(id)/renditions/1024x768", ["file": .string(file)])
            #expect(set.json["warnings"] == .null)
            #expect(try await fixture.api.post("/v1/issues/\(id):publish", [:]).json["warnings"] == .null)
        }
    }

    /// As after a restore without the folder of files.
    @Test func aMissingFileIsNamedAndItsDownloadSaysSo() async throws {
        let directory = Mutex("")
        try await withPublishing(configure: { configuration in directory.withLock { $0 = configuration.filesPath } }) {
            fixture in
            let file = try await fixture.upload(Data("an issue".utf8))
            _ = try await fixture.addIssue("com.example.issue1", renditions: ["1024x768": file])
            let asked = try await fixture.reader.post(
                "\(PublishingFixture.app)/issues/com.example.issue1:download",
                ["screenSize": "1024x768"]
            )
            let address = try #require(asked.json["url"].stringValue)
            #expect(try await fixture.api.get("/v1/overview").json["trouble"] == [])
            try FileManager.default.removeItem(atPath: directory.withLock { $0 })
            var open = fixture.reader
            open.apiKey = nil
            let lost = try await open.get(address)
            #expect(lost.status == 503 && lost.code == "file_missing" && lost.headers["retry-after"] != nil)
            let trouble = try await fixture.api.get("/v1/overview").json["trouble"].elements
            #expect(trouble.map { $0["code"] } == ["filesMissing"])
            #expect(trouble.first?["message"].stringValue?.hasPrefix("1 file that an issue uses is missing") == true)
            // It is uploaded again.
            _ = try await fixture.upload(Data("an issue".utf8))
            #expect(try await open.get(address).status == 200)
            #expect(try await fixture.api.get("/v1/overview").json["trouble"] == [])
        }
    }

    @Test func aRenditionNeedsASizeAndAFile() async throws {
        try await withPublishing { fixture in
            let id = try await fixture.addIssue("com.example.issue1", publishes: false)
            let missing = String(repeating: "0", count: 64)
            let path = "/v1/issues/\(id)/renditions"
            #expect(try await fixture.api.put("\(path)/1024x768", ["file": .string(missing)]).code == "no_such_file")
            #expect(try await fixture.api.put("\(path)/1024", ["file": .string(missing)]).code == "invalid_value")
            #expect(try await fixture.api.put("\(path)/99999999999x1", ["file": .string(missing)]).status == 400)
            #expect(try await fixture.api.put("\(path)/1024x768", ["file": "abc"]).code == "invalid_hash")
            #expect(try await fixture.api.put("\(path)/1024x768", [:]).code == "missing_field")
            #expect(
                try await fixture.api.put("/v1/issues/\(id)/cover", ["file": .string(missing)]).code == "no_such_file"
            )
        }
    }
}
