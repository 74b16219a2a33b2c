import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Import and export over a real port.
@Suite(.timeLimit(.patience)) struct DeviceTransferControllerTests {
    static let path = "/v1/apps/\(Vectors.bundleID)/devices"

    static func post(_ provider: RunningProvider, _ body: String, _ type: String) async throws -> JSONClient.Response {
        try await provider.api.call(
            "POST",
            "\(Self.path):import",
            Data(body.utf8),
            headers: ["content-type": type]
        )
    }

    @Test func aFileIsImportedAndExportedAgain() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            // More than any other body of the API may have.
            let text = String(repeating: "x", count: 250)
            let lines = (0..<2500).map {
                #"{"token":"\#(DeviceToken.numbered($0).hex)","user":"u\#($0)","attributes":{"a":"\#(text)","b":"\#(text)"}}"#
            }
            let file = (["x"] + lines).joined(separator: "\n")
            #expect(file.utf8.count > 1024 * 1024)
            let response = try await Self.post(provider, file, "application/x-ndjson")
            #expect(response.status == 200)
            #expect(response.json["lines"] == 2501)
            #expect(response.json["added"] == 2500)
            #expect(response.json["refused"] == 1)
            #expect(response.json["refusals"].elements.first?["line"] == 1)
            #expect(response.json["refusals"].elements.first?["code"] == "invalid_json")
            let export = try await provider.api.get("\(Self.path):export?format=csv")
            #expect(export.status == 200)
            #expect(export.headers["content-type"] == "text/csv; charset=utf-8")
            let again = try await Self.post(
                provider,
                String(decoding: export.body, as: UTF8.self),
                "text/csv; charset=utf-8"
            )
            #expect(again.json["refreshed"] == 2500)
            #expect(again.json["refused"] == 0)
        }
    }

    @Test(arguments: [
        ("application/json", "{}", 415, "unsupported_content_type"), ("text/csv", "a,b\n", 400, "unknown_column"),
    ])
    func aFileOfAnotherKindIsRejected(type: String, body: String, status: Int, code: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let response = try await Self.post(provider, body, type)
            #expect(response.status == status)
            #expect(response.code == code)
            #expect(try await provider.api.get("\(Self.path):export?format=xml").status == 400)
            #expect(try await provider.api.get("\(Self.path):export?state=dead").field == "state")
        }
    }

    /// Devices before the limit are registered and reported, with and without an announced length.
    @Test func aFileThatIsTooLongEndsAtTheLimit() async throws {
        let limit = 200 * 1024
        try await withProvider(senders: ScriptedSender(), configure: { $0.limits.importFile = limit }) { provider in
            try await provider.addVectorsApp()
            func file(_ bytes: Int) -> String {
                let lines = (0...).lazy.map { #"{"token":"\#(DeviceToken.numbered($0).hex)"}"# + "\n" }
                var text = ""
                for line in lines {
                    guard text.utf8.count + line.utf8.count <= bytes else { break }
                    text += line
                }
                return text + String(repeating: "\n", count: bytes - text.utf8.count)
            }
            let fits = try await Self.post(provider, file(limit), "application/x-ndjson")
            #expect(fits.status == 200)
            let response = try await Self.post(provider, file(limit + 1), "application/x-ndjson")
            #expect(response.status == 413)
            #expect(response.code == "body_too_large")
            #expect(response.json["error"]["message"].stringValue?.contains("at most \(limit) bytes") == true)
        }
    }

    @Test func aFileThatEndsTooEarlyRegistersNothingOfItsLastLine() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let port = Int(provider.api.baseURL.split(separator: ":").last ?? "") ?? 0
            let connection = try await RawConnection.open(port: port)
            let head = """
                POST \(Self.path):import HTTP/1.1\r
                host: localhost\r
                authorization: Bearer \(provider.api.apiKey ?? "")\r
                content-type: text/csv\r
                content-length: 1000\r
                \r
                token\r
                \(Vectors.tokenA.prefix(60))
                """
            connection.write(Array(head.utf8))
            await connection.close()
            let list = try await provider.api.get(Self.path)
            #expect(list.json["devices"] == [])
        }
    }
}
