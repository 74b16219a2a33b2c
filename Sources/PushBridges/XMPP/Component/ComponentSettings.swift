import Foundation
import NIOSSL
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The settings of an XMPP push component: its server, and the content of its pushes.
struct ComponentSettings: BridgeSettings, Hashable {
    /// The protection of the connection to the server.
    enum Security: String, Hashable, Sendable, CaseIterable {
        /// TLS begins with the first byte.
        case direct
        case none
    }

    static let kind = BridgeKind.xmpp
    static let members: Set<String> = [
        "host", "port", "tls", "trust", "title", "body", "sound", "accountMember", "consentCategory", "registration",
    ]

    /// The member that requires a public server. It is set if a caller with a key of single apps has named the server.
    static let publicOnly = "publicOnly"
    static let hiddenMembers: Set<String> = [Self.publicOnly]

    /// The port on which servers listen for components.
    static let standardPort: Int64 = 5347
    private static let maximumTrust = 48 * 1024

    var host: String
    var port: Int
    var security: Security
    /// The authorities that the server's certificate is checked against, in PEM, or `nil` for those of the system.
    var trust: String?
    var title: String
    var body: String?
    var sound: String
    /// The member of the payload for the account tag.
    var accountMember: String
    var consentCategory: String?
    /// The dialects in which clients may register themselves.
    var dialects: Set<RegistrationDialect>
    /// Indicates whether the server's name may resolve only to addresses that callers with keys of single apps may
    /// name.
    var isPublicOnly: Bool

    static func check(name: String) throws(RequestError) {
        guard JabberAddress.isDomain(name), name == name.lowercased() else {
            throw RequestError.invalid("bridge", "the name is the component's domain, in small letters")
        }
    }

    init(_ fields: JSONFields) throws(RequestError) {
        self.host = try fields.requiredString("host", maximum: 253)
        self.port = Int(try fields.integer("port", in: 1...65_535) ?? Self.standardPort)
        let security = try fields.choice("tls", of: Security.self)
        self.security = security ?? (Self.isLoopback(self.host) ? .none : .direct)
        self.trust = try fields.string("trust", maximum: Self.maximumTrust)
        self.title = try fields.string("title", maximum: 256) ?? "New message"
        self.body = try fields.string("body", maximum: 1024)
        self.sound = try fields.string("sound", maximum: 128) ?? "default"
        self.accountMember = try fields.string("accountMember", maximum: 64) ?? "account"
        self.consentCategory = try fields.string("consentCategory", maximum: Preferences.maximumCategory)
        let dialects = try fields.strings("registration", count: RegistrationDialect.allCases.count, maximum: 16) ?? []
        self.dialects = Set(dialects.compactMap(RegistrationDialect.init(rawValue:)))
        self.isPublicOnly = try fields.bool(Self.publicOnly) ?? false
        guard self.dialects.count == Set(dialects).count else {
            let known = RegistrationDialect.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.error("registration", "invalid_value", "use some of \(known)")
        }
        guard self.accountMember != "aps" else {
            throw fields.error("accountMember", "invalid_value", "aps belongs to the push service")
        }
        if self.trust != nil, (try? self.trustRoots()) == nil {
            throw fields.error("trust", "invalid_value", "use certificates in PEM")
        }
    }

    /// The certificates of ``trust``.
    func trustRoots() throws -> NIOSSLTrustRoots {
        guard let trust else { return .default }
        let certificates = try NIOSSLCertificate.fromPEMBytes(Array(trust.utf8))
        guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
        return .certificates(certificates)
    }

    /// Returns `true` if a host is this one. Connections to it need no TLS.
    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.isIPAddress && host.hasPrefix("127.")
    }
}

/// A configured component, with its app.
struct ComponentBridge: Hashable, Sendable {
    /// The domain of the component.
    var name: String
    var app: Int64
    var bundleID: Topic
    /// The environment of its pushes, or `nil` for that of each device.
    var environment: PushEnvironment?
    var settings: ComponentSettings
    var secret: String
    var revision: UUID

    /// - Throws: ``RequestError`` for settings that another version has stored and this one cannot read.
    init(_ record: BridgeRecord, bundleID: Topic) throws(RequestError) {
        (self.name, self.app, self.environment) = (record.name, record.app, record.environment)
        (self.bundleID, self.secret, self.revision) = (bundleID, record.secret, record.revision)
        self.settings = try ComponentSettings(record)
    }
}

extension ComponentSettings {
    /// Checks the server by the rules for webhooks and chat servers, for a caller with a key of single apps.
    ///
    /// A name is resolved only when its server is connected to. Here only names that always mean this host are refused.
    /// - Throws: ``RequestError`` for an address that only this host or its network can reach, and for a port of other
    ///   services.
    func checkServer(_ policy: AddressPolicy) throws(RequestError) {
        do throws(RequestError) {
            _ = try ChatServerAddress(host: self.host, port: self.port, policy: policy)
        } catch {
            let member = error.path == "port" ? "port" : "host"
            let message = "\(error.message); or let a caller with all apps set it"
            throw RequestError(error.kind, code: error.code, message: message, path: "settings.\(member)")
        }
    }
}
