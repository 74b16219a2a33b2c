import Foundation
import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import Testing

/// Uploads over the API.
@Suite(.timeLimit(.patience)) struct UploadsControllerTests {
    private static let content = Data((0..<300_000).map { UInt8($0 % 253) })
    private static let partType = ["content-type": "application/partial-upload"]

    private static func begin(_ fixture: PublishingFixture) async throws -> JSONClient.Response {
        try await fixture.api.post(
            "\(PublishingFixture.app)/uploads",
            [
                "size": .integer(Int64(Self.content.count)), "sha256": .string(PublishingFixture.hash(Self.content)),
                "name": "issue.zip", "contentType": "application/zip",
            ]
        )
    }

    private static func send(
        _ bytes: Data,
        at offset: String,
        to id: String,
        _ fixture: PublishingFixture
    ) async throws -> JSONClient.Response {
        let headers = Self.partType.merging(["upload-offset": offset]) { $1 }
        return try await fixture.api.call("PATCH", "/v1/uploads/\(id)", bytes, headers: headers)
    }

    @Test func anUploadGoesOnFromItsOffset() async throws {
        try await withPublishing { fixture in
            let begun = try await Self.begin(fixture)
            let id = try #require(begun.json["id"].stringValue)
            #expect(begun.status == 201 && begun.headers["location"] == "/v1/uploads/\(id)")
            #expect(begun.headers["upload-offset"] == "0" && begun.headers["upload-complete"] == "?0")
            let half = try await Self.send(Self.content[..<100_000], at: "0", to: id, fixture)
            #expect(half.status == 200 && half.json["offset"] == 100_000 && half.json["complete"] == false)
            let head = try await fixture.api.call("HEAD", "/v1/uploads/\(id)", nil)
            #expect(head.status == 204 && head.headers["upload-offset"] == "100000")
            #expect(head.headers["upload-length"] == "300000" && head.headers["cache-control"] == "no-store")
            let open = try await fixture.api.get("\(PublishingFixture.app)/uploads").json["uploads"].elements
            #expect(open.map { $0["id"].stringValue } == [id] && open.first?["offset"] == 100_000)
            #expect(open.first?["name"] == "issue.zip" && open.first?["size"] == 300_000)
            let wrong = try await Self.send(Self.content[200_000...], at: "200000", to: id, fixture)
            #expect(wrong.status == 409 && wrong.code == "wrong_offset" && wrong.headers["upload-offset"] == "100000")
            let whole = try await Self.send(Self.content[100_000...], at: "100000", to: id, fixture)
            #expect(whole.json["complete"] == true && whole.headers["upload-complete"] == "?1")
            #expect(try await fixture.api.get("\(PublishingFixture.app)/uploads").json["uploads"].elements.isEmpty)
            let late = try await Self.send(Data([1]), at: "300000", to: id, fixture)
            #expect(late.status == 409 && late.code == "upload_complete" && late.headers["upload-complete"] == "?1")
            let files = try await fixture.api.get("\(PublishingFixture.app)/files").json["files"].elements
            #expect(files.map { $0["name"].stringValue } == ["issue.zip"])
            #expect(try await Self.begin(fixture).json["complete"] == true)
            #expect(try await fixture.api.get("/v1/uploads/\(id)").json["complete"] == true)
        }
    }

    @Test func anotherContentIsRefusedAndBeginsAgain() async throws {
        try await withPublishing { fixture in
            let id = try #require(try await Self.begin(fixture).json["id"].stringValue)
            let other = Data(repeating: 1, count: Self.content.count)
            let refused = try await Self.send(other, at: "0", to: id, fixture)
            #expect(refused.status == 400 && refused.code == "wrong_hash" && refused.headers["upload-offset"] == "0")
            let long = try await Self.send(Self.content + [1], at: "0", to: id, fixture)
            #expect(long.status == 413 && long.code == "body_too_large")
            #expect(long.json["error"]["message"].stringValue?.contains("300000 bytes") == true)
            let offset = try await fixture.api.call("HEAD", "/v1/uploads/\(id)", nil).headers["upload-offset"] ?? ""
            let start = try #require(Int(offset))
            #expect(try await Self.send(Self.content[start...], at: offset, to: id, fixture).json["complete"] == true)
        }
    }

    @Test func aWholeFileIsUploadedInOneRequest() async throws {
        try await withPublishing(configure: { $0.publishing.maximumFile = 400_000 }) { fixture in
            let path = "\(PublishingFixture.app)/files"
            let zip = ["content-type": "application/zip; q=1"]
            let added = try await fixture.api.call("POST", "\(path)?name=issue.zip", Self.content, headers: zip)
            #expect(added.status == 201 && added.json["name"] == "issue.zip" && added.json["size"] == 300_000)
            #expect(added.json["sha256"] == .string(PublishingFixture.hash(Self.content)))
            #expect(added.json["contentType"] == "application/zip")
            #expect(try await Self.begin(fixture).json["complete"] == true)
            let plain = ["content-type": "no type"]
            let unnamed = try await fixture.api.call("POST", path, Data([1]), headers: plain)
            #expect(unnamed.json["name"] == .string(PublishingFixture.hash(Data([1]))))
            #expect(unnamed.json["contentType"] == "application/octet-stream")
            let long = Data(repeating: 1, count: 400_001)
            #expect(try await fixture.api.call("POST", path, long, headers: zip).code == "file_too_large")
            #expect(try await fixture.api.call("POST", path, Data(), headers: zip).code == "empty_file")
            #expect(try await fixture.api.call("POST", "\(path)?name=", Data([1]), headers: zip).status == 400)
            #expect(try await fixture.api.get(path).json["files"].elements.count == 2)
        }
    }

    @Test func garbageIsRefused() async throws {
        try await withPublishing(configure: { $0.publishing.maximumFile = 1000 }) { fixture in
            let path = "\(PublishingFixture.app)/uploads"
            let hash = JSONValue.string(String(repeating: "a", count: 64))
            #expect(try await fixture.api.post(path, ["size": 1001, "sha256": hash]).code == "file_too_large")
            let empty = try await fixture.api.post(path, ["size": 0, "sha256": hash])
            #expect(empty.code == "invalid_value" && empty.json["error"]["message"] == "use 1 to 1000 bytes")
            #expect(try await fixture.api.post(path, ["sha256": hash]).code == "missing_field")
            #expect(try await fixture.api.post(path, ["size": 10, "sha256": "xyz"]).code == "invalid_hash")
            let type: JSONValue = ["size": 10, "sha256": hash, "contentType": "text/html\r\nx: y"]
            #expect(try await fixture.api.post(path, type).code == "invalid_value")
            let begun = try await fixture.api.post(path, ["size": 10, "sha256": hash])
            let id = try #require(begun.json["id"].stringValue)
            for offset in ["-1", "1e3", "99999999999999999999", "+0", ""] {
                #expect(try await Self.send(Data(), at: offset, to: id, fixture).code == "invalid_value", "\(offset)")
            }
            let plain = ["content-type": "text/plain", "upload-offset": "0"]
            let untyped = try await fixture.api.call("PATCH", "/v1/uploads/\(id)", Data([1]), headers: plain)
            #expect(untyped.status == 415)
            #expect(try await fixture.api.delete("/v1/uploads/\(id)").status == 204)
            #expect(try await fixture.api.delete("/v1/uploads/\(id)").status == 404)
            #expect(try await Self.send(Data([1]), at: "0", to: id, fixture).code == "no_such_upload")
        }
    }

    @Test func anUploadWithoutRoomIsNotBegun() async throws {
        try await withPublishing(configure: { $0.publishing.maximumFile = 1 << 60 }) { fixture in
            let hash = JSONValue.string(String(repeating: "a", count: 64))
            let path = "\(PublishingFixture.app)/uploads"
            let refused = try await fixture.api.post(path, ["size": .integer(1 << 60), "sha256": hash])
            #expect(refused.status == 503 && refused.code == "storage_full")
            #expect(refused.json["error"]["message"].stringValue?.hasSuffix("the upload is not begun") == true)
            #expect(try await fixture.api.get(path).json["uploads"].elements.isEmpty)
        }
    }

    @Test func aPublicKeyUploadsNothing() async throws {
        try await withPublishing { fixture in
            let hash = JSONValue.string(String(repeating: "a", count: 64))
            let response = try await fixture.reader.post(
                "\(PublishingFixture.app)/uploads",
                ["size": 1, "sha256": hash]
            )
            #expect(response.status == 403)
        }
    }
}
