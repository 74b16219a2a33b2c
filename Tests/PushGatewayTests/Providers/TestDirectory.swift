import Crypto
import Foundation
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushGateway

/// The registered keys, apps and tokens of APNs reference 8.2, which a test can change.
final class TestDirectory: PushDirectory {
    static let device = UUID()
    static let tokenB = "2ca004c150548759e45a0c2ce605d028bec4f96268a707abb471d1de9056b203"
    static let goneToken = "0102"
    static let voipToken = "0304"
    static let managementToken = "0506"
    static let managementTopic = "com.apple.mgmt.External.1"
    static let removal = Timestamp(milliseconds: 1_699_999_999_500)

    struct Content {
        var apps: [String: ProviderApp] = [:]
        var keys: [String: RegisteredKey] = [:]
        var revoked: Set<String> = []
        var changes: UInt64 = 0
        /// The queries for keys and apps so far.
        var queries = 0

        mutating func add(app name: String, team: String = Vectors.teamID, allowsBroadcast: Bool = true) {
            guard let bundleID = Topic(name) else { return }
            self.apps[name] = ProviderApp(bundleID: bundleID, teamID: team, allowsBroadcast: allowsBroadcast)
        }
    }

    private let content: Mutex<Content>

    init() throws {
        var content = Content()
        content.add(app: Vectors.bundleID)
        content.add(app: "com.example.Other")
        content.add(app: "com.example.Foreign", team: "OTHERTEAM1")
        let key = try P256.Signing.PublicKey(pemRepresentation: Vectors.publicKey)
        content.keys[Vectors.keyID] = RegisteredKey(
            teamID: Vectors.teamID,
            keyID: Vectors.keyID,
            publicKey: Array(key.x963Representation)
        )
        self.content = Mutex(content)
    }

    func change(_ body: (inout Content) -> Void) {
        self.content.withLock { content in
            body(&content)
            content.changes += 1
        }
    }

    /// Another registered key.
    func add(_ key: TestKey) {
        self.change { $0.keys[key.registered.keyID] = key.registered }
    }

    var queries: Int { self.content.withLock { $0.queries } }

    var changes: UInt64 { self.content.withLock { $0.changes } }

    func key(_ keyID: String) -> RegisteredKey? {
        self.content.withLock { content in
            content.queries += 1
            return content.keys[keyID]
        }
    }

    func app(_ bundleID: Topic) -> ProviderApp? {
        self.content.withLock { content in
            content.queries += 1
            return content.apps[bundleID.name]
        }
    }

    func isRevoked(certificate serial: String) -> Bool { self.content.withLock { $0.revoked.contains(serial) } }

    func status(of token: DeviceToken) -> TokenStatus {
        switch token.hex {
        case Vectors.tokenA, Vectors.tokenC: Self.active(Vectors.bundleID)
        case Self.tokenB: Self.active("com.example.Other")
        case Self.voipToken: Self.active("com.example.MyApp.voip")
        case Self.managementToken: Self.active(Self.managementTopic)
        case Self.goneToken:
            .unregistered(
                .init(token: token, device: Self.device, topic: Self.hash(Vectors.bundleID), since: Self.removal)
            )
        default: .unknown
        }
    }

    private static func active(_ topic: String) -> TokenStatus { .active(device: Self.device, topic: Self.hash(topic)) }

    private static func hash(_ name: String) -> TopicHash {
        Topic(name).map(TopicHash.init) ?? TopicHash(bytes: [UInt8](repeating: 0, count: 20))!
    }
}

/// A provider's key with its private key.
struct TestKey {
    var registered: RegisteredKey
    private let key: P256.Signing.PrivateKey

    init(_ keyID: String, team: String = Vectors.teamID, scope: RegisteredKey.Scope = .team) {
        self.key = P256.Signing.PrivateKey()
        self.registered = RegisteredKey(
            teamID: team,
            keyID: keyID,
            publicKey: Array(self.key.publicKey.x963Representation),
            scope: scope
        )
    }

    /// The key of the vectors.
    init() throws {
        self.key = try P256.Signing.PrivateKey(pemRepresentation: Vectors.privateKey)
        self.registered = RegisteredKey(
            teamID: Vectors.teamID,
            keyID: Vectors.keyID,
            publicKey: Array(self.key.publicKey.x963Representation)
        )
    }

    /// An `authorization` field.
    func authorization(issuedAt: Timestamp = Vectors.issuedAt) throws -> String {
        "bearer \(try self.token(issuedAt: issuedAt))"
    }

    func token(issuedAt: Timestamp = Vectors.issuedAt) throws -> String {
        try self.sign(
            header: #"{"alg":"ES256","kid":"\#(self.registered.keyID)"}"#,
            claims: #"{"iss":"\#(self.registered.teamID)","iat":\#(issuedAt.seconds)}"#
        )
    }

    func sign(header: String, claims: String) throws -> String {
        let input = "\(Self.encode(Data(header.utf8))).\(Self.encode(Data(claims.utf8)))"
        return "\(input).\(Self.encode(try self.key.signature(for: Data(input.utf8)).rawRepresentation))"
    }

    /// Signs as pushok does: SHA-512, and numbers of 66 bytes.
    func signES512(keyID: String = Vectors.keyID, issuedAt: Timestamp = Vectors.issuedAt) throws -> String {
        let header = Data(#"{"alg":"ES512","kid":"\#(keyID)"}"#.utf8)
        let claims = Data(#"{"iss":"\#(self.registered.teamID)","iat":\#(issuedAt.seconds)}"#.utf8)
        let input = "\(Self.encode(header)).\(Self.encode(claims))"
        let signature = try self.key.signature(for: SHA512.hash(data: Data(input.utf8))).rawRepresentation
        let padding = Data(count: 34)
        return "\(input).\(Self.encode(padding + signature.prefix(32) + padding + signature.suffix(32)))"
    }

    private static func encode(_ data: Data) -> String {
        data.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

/// The requests of APNs reference 8.2.
enum TestRequest {
    static let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"

    /// Request 2a, with changes.
    static func push(
        _ changes: [String: String?] = [:],
        extra: [(String, String)] = [],
        body: Data = Data(Vectors.payload.utf8)
    ) -> ProviderRequest {
        Self.make(
            [
                ":method": "POST", ":path": "/3/device/\(Vectors.tokenA)",
                "authorization": "bearer \(Vectors.providerToken)", "apns-topic": Vectors.bundleID,
                "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "0", "apns-id": Self.id,
            ],
            changes,
            extra: extra,
            body: body
        )
    }

    static func make(
        _ fields: [String: String?],
        _ changes: [String: String?] = [:],
        extra: [(String, String)] = [],
        body: Data
    ) -> ProviderRequest {
        var request = ProviderRequest()
        for (name, value) in fields.merging(changes, uniquingKeysWith: { $1 }) {
            if let value { request.add(name: name, value: value) }
        }
        for (name, value) in extra { request.add(name: name, value: value) }
        request.appendBody(ByteBuffer(bytes: body))
        return request
    }

    /// The request of APNs reference 8.3.
    static func body(size: Int) -> Data {
        Data(#"{"aps":{"alert":""#.utf8) + Data(repeating: UInt8(ascii: "a"), count: size - 20) + Data(#""}}"#.utf8)
    }
}
