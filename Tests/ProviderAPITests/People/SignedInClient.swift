import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTesting
import Testing

@testable import ProviderAPI

/// A provider with a client that makes requests within the process, as pages do for the person of a session.
struct PeopleServer: Sendable {
    static let password = "correct horse battery"

    let server: ProviderServer
    /// A client with the first admin key.
    let api: JSONClient
    let port: Int

    /// Adds a person who redeems the link.
    func add(_ name: String, _ role: PersonRole, apps: [String] = []) async throws -> (id: String, grant: SessionGrant)
    {
        var body: [String: JSONValue] = ["name": .string(name), "role": .string(role.rawValue)]
        if !apps.isEmpty { body["apps"] = .array(apps.map { .string($0) }) }
        let added = try await self.api.post("/v1/people", .object(body))
        try #require(added.status == 201)
        let link = try #require(added.json["link"].stringValue?.split(separator: "/").last)
        let grant = try await self.redeem(String(link))
        return (try #require(added.json["id"].stringValue), grant)
    }

    func redeem(_ link: String, name: String? = nil) async throws -> SessionGrant {
        try await self.server.signIns.redeem(
            link: link,
            name: name,
            password: Self.password,
            address: "192.0.2.1",
            agent: "browser"
        )
    }

    /// Makes a request as the person who has signed in.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: JSONValue? = nil,
        as grant: SessionGrant
    ) async throws -> (status: Int, json: JSONValue) {
        guard let session = try await self.server.signIns.session(token: grant.token) else { return (401, .null) }
        let channel = NIOAsyncTestingChannel()
        var context = APIContext(source: ApplicationRequestContextSource(channel: channel, logger: silentLogger))
        context.caller = session.caller
        let head = HTTPRequest(method: method, scheme: nil, authority: "localhost", path: path)
        let text = try body?.text ?? Data()
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: text)))
        let response = try await self.server.api.responder.respond(to: request, context: context)
        let written = WrittenBody()
        try await response.body.write(written)
        let json = try? JSONValue(parsing: Data(written.bytes.buffer.readableBytesView))
        return (response.status.code, json ?? .null)
    }
}

/// Runs a provider for the duration of `body`.
func withPeople(
    configure: (inout ProviderConfiguration) -> Void = { _ in },
    showAdminLink: @escaping @Sendable (String) -> Void = { _ in },
    _ body: @escaping @Sendable (PeopleServer) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        var configuration = ProviderConfiguration(dataDirectory: directory)
        configuration.port = 0
        configuration.bePatient()
        configuration.passwords = StoredPassword.Parameters(logarithm: 4, blockSize: 8, parallelism: 1)
        configure(&configuration)
        let server = try await ProviderServer(
            configuration: configuration,
            senders: ScriptedSender(),
            pages: { _ in NoPages() },
            showAdminLink: showAdminLink,
            logger: silentLogger
        )
        try await withServices([server]) {
            let port = try await server.port()
            let api = JSONClient(baseURL: "http://127.0.0.1:\(port)", apiKey: server.firstAdminKey)
            try await body(PeopleServer(server: server, api: api, port: port))
        }
    }
}

/// Pages for a provider that makes a link to them.
private struct NoPages: ProviderPages {
    func addRoutes(to router: Router<APIContext>) {}
}

/// The bytes of a response.
private struct WrittenBody: ResponseBodyWriter {
    final class Storage {
        var buffer = ByteBuffer()
    }

    let bytes = Storage()

    mutating func write(_ buffer: ByteBuffer) async throws { self.bytes.buffer.writeImmutableBuffer(buffer) }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
