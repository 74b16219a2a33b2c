import Foundation
import MartletKit
import PushTesting
import Testing

@Suite("Attachments over a network", .timeLimit(.patience)) struct AttachmentLoaderTests {
    private static let png = AttachmentDownloadTests.png

    /// Returns the bytes of a response.
    private static func response(_ status: String, _ headers: [String], _ body: Data = Data()) -> Data {
        Data(("HTTP/1.1 \(status)\r\nConnection: close\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
            + body
    }

    /// Downloads `/` of a server, and returns the outcome, the names of all files left and the paths that were requested.
    private func load(
        _ policy: AttachmentPolicy = .init(deadline: .patience, allowsLocalServers: true),
        _ respond: @escaping @Sendable (String) -> [ByteServer.Piece]
    ) async throws -> (outcome: Result<DownloadedAttachment, AttachmentError>, files: [String], paths: [String]) {
        let server = try ByteServer(respond: respond)
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-attachment-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let json = JSONValue.object(["attachment": .string(server.url("/a.png"))]).json
        let notification = try #require(ReceivedNotification(json: json))
        let loader = AttachmentLoader(folder: folder, policy: policy)
        let outcome: Result<DownloadedAttachment, AttachmentError>
        do {
            outcome = .success(try #require(try await loader.attachment(of: notification)))
        } catch let error as AttachmentError {
            outcome = .failure(error)
        }
        if case .success(let attachment) = outcome { #expect(try Data(contentsOf: attachment.file) == Self.png) }
        return (outcome, try FileManager.default.contentsOfDirectory(atPath: folder.path), server.paths)
    }

    @Test("A file is downloaded under a name of ours")
    func download() async throws {
        let result = try await self.load { _ in
            let headers = [
                "Content-Type: image/png", "Content-Length: 15",
                "Content-Disposition: attachment; filename=../../evil.sh",
            ]
            return [.bytes(Self.response("200 OK", headers, Self.png))]
        }
        let attachment = try result.outcome.get()
        #expect(attachment.type == .png)
        #expect(result.files == [attachment.file.lastPathComponent])
        let name = attachment.file.lastPathComponent
        #expect(name.hasSuffix(".png") && UUID(uuidString: String(name.dropLast(4))) != nil)
    }

    @Test("A notification without an attachment has none")
    func none() async throws {
        let loader = AttachmentLoader(folder: FileManager.default.temporaryDirectory)
        for text in [#"{"aps":{}}"#, #"{"attachment":null}"#] {
            let notification = try #require(ReceivedNotification(json: Data(text.utf8)))
            #expect(try await loader.attachment(of: notification) == nil)
        }
    }

    @Test("Redirects are followed one by one")
    func redirects() async throws {
        let result = try await self.load { path in
            switch path {
            case "/a.png": [.bytes(Self.response("302 Found", ["Location: /b", "Content-Length: 0"]))]
            case "/b":
                [
                    .bytes(
                        Self.response(
                            "308 Permanent Redirect",
                            ["Location: /c", "Content-Length: 3"],
                            Data("abc".utf8)
                        )
                    )
                ]
            default: [.bytes(Self.response("200 OK", ["Content-Type: image/png", "Content-Length: 15"], Self.png))]
            }
        }
        #expect(try result.outcome.get().type == .png)
        #expect(result.paths == ["/a.png", "/b", "/c"])
    }

    @Test("A chain of redirects ends at the limit")
    func loop() async throws {
        let result = try await self.load { _ in
            [.bytes(Self.response("302 Found", ["Location: /a.png", "Content-Length: 0"]))]
        }
        #expect(result.outcome == .failure(.tooManyRedirects))
        #expect(result.paths.count == 4)
        #expect(result.files.isEmpty)
    }

    @Test(
        "Redirects to other schemes are not followed",
        arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"]
    )
    func schemes(location: String) async throws {
        let result = try await self.load { _ in
            [.bytes(Self.response("302 Found", ["Location: \(location)", "Content-Length: 0"]))]
        }
        #expect(result.outcome == .failure(.notHTTPS))
        #expect(result.files.isEmpty)
    }

    @Test("An endless file ends at the limit, and leaves nothing")
    func endless() async throws {
        let policy = AttachmentPolicy(maximumSize: 1_000_000, deadline: .patience, allowsLocalServers: true)
        let result = try await self.load(policy) { _ in
            let head = Self.response("200 OK", ["Content-Type: image/png"], Self.png)
            return [.bytes(head), .bytes(Data(count: 4_000_000)), .silence]
        }
        #expect(result.outcome == .failure(.tooLarge))
        #expect(result.files.isEmpty)
    }

    @Test("A server that falls silent is given up at the deadline")
    func silence() async throws {
        let policy = AttachmentPolicy(deadline: .milliseconds(300), allowsLocalServers: true)
        let head = Self.response("200 OK", ["Content-Type: image/png", "Content-Length: 15"], Self.png.prefix(9))
        for pieces in [[ByteServer.Piece.silence], [.bytes(head), .silence]] {
            let result = try await self.load(policy) { _ in pieces }
            #expect(result.outcome == .failure(.tooLate))
            #expect(result.files.isEmpty)
        }
    }

    @Test("What is not the declared type, not whole, or no HTTP leaves nothing")
    func garbage() async throws {
        let typed = ["Content-Type: image/png", "Content-Length: 15"]
        let responses = [
            Self.response("200 OK", typed, Data("<html><script>x".utf8)),
            Self.response("200 OK", typed, Self.png.prefix(9)),
            Self.response("200 OK", ["Content-Type: text/html", "Content-Length: 15"], Self.png),
            Self.response("404 Not Found", typed, Self.png), Data("garbage\r\n\r\n".utf8), Data(),
            Self.response(
                "200 OK",
                ["Content-Type: image/png", "Content-Encoding: gzip", "Content-Length: 15"],
                Self.png
            ),
        ]
        for response in responses {
            let result = try await self.load { _ in [.bytes(response)] }
            guard case .failure = result.outcome else {
                Issue.record("\(String(decoding: response, as: UTF8.self)) was taken")
                continue
            }
            #expect(result.files.isEmpty)
        }
    }

    @Test("A cancelled download ends and leaves nothing")
    func cancellation() async throws {
        let server = try ByteServer { _ in [.silence] }
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-attachment-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let json = JSONValue.object(["attachment": .string(server.url("/a"))]).json
        let notification = try #require(ReceivedNotification(json: json))
        let policy = AttachmentPolicy(deadline: .patience, allowsLocalServers: true)
        let loader = AttachmentLoader(folder: folder, policy: policy)
        let task = Task { try await loader.attachment(of: notification) }
        try await eventually { !server.paths.isEmpty }
        task.cancel()
        await #expect(throws: AttachmentError.self) { try await task.value }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
