import Crypto
import Foundation
import Hummingbird
import Logging
import NIOCore
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTypes

/// Authenticates requests of other systems' clients, by an API key in the header or by a bridge's secret in the path.
struct BridgeAuthenticator: Sendable {
    /// The minimum length of a secret, in bytes. Requests with a shorter one are rejected.
    static let minimumSecret = 16
    /// The minimum length of a new secret, in bytes. A shorter one that is already stored causes a warning in the log.
    static let goodSecret = 32
    /// The prefix of generated secrets, and their length in characters, by which they are recognized.
    private static let (madePrefix, madeLength) = ("mb_", 35)

    let runner: OperationRunner
    let budgets: BudgetRegistry
    let log: RateLimitedLog

    enum Admission: Sendable {
        case key(APICaller)
        /// A bridge's secret, which was in the path. The topic is the bundle id of the bridge's app.
        case secret(Topic)

        /// The account to which the bytes of the request body are charged: that of the API key, or of the secret's app.
        var account: BudgetCaller {
            switch self {
            case .key(let caller): caller.account
            case .secret(let app): BudgetCaller(app: app)
            }
        }

        /// A reference to the API key, for the ledger, or `nil` if a secret admitted the request.
        var key: KeyReference? { if case .key(let caller) = self { caller.reference } else { nil } }

        func allows(_ scope: APIScope, on app: Topic) -> Bool {
            switch self {
            case .key(let caller): caller.allows(scope) && caller.mayUse(app)
            case .secret: true
            }
        }
    }

    /// Authenticates a request by its API key, and counts it as a request of that key.
    /// - Throws: ``RequestError`` for a request without a valid key, ``RetryLaterError`` for one beyond the key's rate.
    func key(of request: Request, _ context: APIContext) async throws -> APICaller {
        guard let text = request.headers[.authorization].flatMap(Self.key(in:)),
            let key = try await self.runner.key(text, from: context.channel), case let caller = APICaller(key),
            !caller.isPublic
        else {
            let message = "send a valid API key as 'Authorization: Bearer mk_…', or as the password of HTTP basic"
            throw RequestError(.unauthenticated, code: "unauthorized", message: message, path: "authorization")
        }
        try self.runner.budgets.countRequest(of: caller)
        try self.runner.connections.assign(context.channel, to: caller.account)
        return caller
    }

    static func makeSecret() -> String { Self.madePrefix + Base64URL.encode(RandomBytes.make(24)) }

    private static func isMade(_ secret: String) -> Bool {
        secret.utf8.count == Self.madeLength && secret.hasPrefix(Self.madePrefix)
    }

    /// Authenticates a request by the secret of a bridge, and counts it as a bridge request of the app.
    ///
    /// A secret that the provider did not generate might be guessed. After too many wrong secrets from a network,
    /// requests from there to such a bridge are rejected without a comparison. A generated secret is always compared,
    /// so that clients behind the same proxy as an attacker are served.
    /// - Throws: ``RequestError`` for a wrong secret, ``RetryLaterError`` for a request beyond the rate.
    func checkSecret(_ secret: String, of bridge: BridgeRecord?, app: Topic?, _ context: APIContext) throws {
        let client = BudgetCaller(clientOf: context.channel)
        if !(bridge.map { Self.isMade($0.secret) } ?? false) { try self.budgets[.wrongSecrets].check(for: client) }
        // Digests are compared in constant time.
        guard let bridge, let app, bridge.secret.utf8.count >= Self.minimumSecret,
            SHA256.hash(data: Data(secret.utf8)) == SHA256.hash(data: Data(bridge.secret.utf8))
        else {
            try self.budgets[.wrongSecrets].spend(for: client)
            let message = "the secret in the path is not that of a bridge"
            throw RequestError(.unauthenticated, code: "unauthorized", message: message)
        }
        if bridge.secret.utf8.count < Self.goodSecret {
            self.log.log(
                .warning,
                "the secret in the path of a bridge has fewer than \(Self.goodSecret) bytes: set a longer one",
                ["bridge": "\(bridge.kind.rawValue) \(bridge.name)", "app": "\(app)"],
                app: app
            )
        }
        try self.runner.budgets.countBridgeRequest(of: app)
        try self.runner.connections.assign(context.channel, to: BudgetCaller(app: app))
    }

    /// Reads the whole body of a request, at most `maximum` bytes, and passes it to `respond`. The bytes are charged to
    /// the caller until the response is created.
    func withBody(
        of request: Request,
        maximum: Int,
        _ admission: Admission,
        _ respond: (Data) async throws -> Response
    ) async throws -> Response {
        let budgets = self.runner.budgets
        let account = admission.account
        let (body, held) = try await request.wholeBody(maximum: maximum, from: budgets[.bodyBytes], for: account)
        defer { held?.end() }
        try await budgets.pace(body, of: account)
        return try await respond(body)
    }

    /// Returns the API key in the value of the `authorization` field, or `nil` for any other credential.
    ///
    /// With basic authentication, the key is the password, or the user name if the password is empty.
    static func key(in header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "bearer": return String(parts[1])
        case "basic":
            guard parts[1].utf8.count <= 1024, let data = Data(base64Encoded: String(parts[1])),
                let text = String(validating: data, as: UTF8.self)
            else { return nil }
            let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return pair.reversed().map(String.init).first { APIKeys.isKey($0) }
        default: return nil
        }
    }
}

extension BridgeAuthenticator {
    /// Runs `body`, counts its response, and converts errors into responses for clients of the other system.
    /// - Parameters:
    ///   - operation: The name of the operation at `/metrics`.
    ///   - bridge: The name of the bridge in the path, for the log. The path itself may contain a secret.
    ///   - failure: Creates the response to an error.
    func respond(
        _ operation: String,
        bridge: String,
        failure: (RequestError) -> Response,
        _ body: () async throws -> Response
    ) async -> Response {
        let name = String(bridge.prefix(BridgeRecord.maximumName))
        return await self.runner.respond(operation, at: ["bridge": .string(name)], failure: failure, body)
    }
}

extension BudgetCaller {
    /// Creates the budget caller for a client without a credential, identified by the address of its connection.
    /// - Parameter app: The app that the request concerns, or `nil` before it is known.
    init(clientOf channel: any Channel, app: Topic? = nil) {
        // A stream of HTTP/2 has the address of its connection.
        let address = channel.remoteAddress ?? channel.parent?.remoteAddress
        self.init(app: app, .network(address?.network ?? []))
    }
}
