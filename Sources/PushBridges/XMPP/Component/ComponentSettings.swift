import Foundation
import NIOSSL
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The settings of an XMPP push component: its server, and what its pushes show.
struct ComponentSettings: BridgeSettings, Hashable {
    /// The protection of the connection to the server.
    enum Security: String, Hashable, Sendable, CaseIterable {
        /// TLS from the first byte.
        case direct
        case none
    }

    static let kind = BridgeKind.xmpp
    static let members: Set<String> = [
        "host", "port", "tls", "trust", "title", "body", "sound", "accountMember", "consentCategory", "registration",
    ]

    /// The member that says that the server must be public; a caller that is limited to apps has named it then.
    static let publicOnly = "publicOnly"
    static let hiddenMembers: Set<String> = [Self.publicOnly]

    /// The port on which servers listen for components.
    static let standardPort: Int64 = 5347
    private static let maximumTrust = 48 * 1024

    var host: String
    var port: Int
    var security: Security
    /// The certificates that the server's is checked against, in PEM; `nil` for those of the system.
    var trust: String?
    var title: String
    var body: String?
    var sound: String
    /// The member of a payload that has the account tag.
    var accountMember: String
    var consentCategory: String?
    /// The dialects in which clients may register themselves.
    var dialects: Set<RegistrationDialect>
    /// `true` if the name of the server may lead to none but the addresses that callers may name.
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

    /// Indicates whether a host is this one: what goes there needs no protection on the way.
    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.isIPAddress && host.hasPrefix("127.")
    }
}

/// A configured component, with the app that it is for.
struct ComponentBridge: Hashable, Sendable {
    /// The domain of the component.
    var name: String
    var app: Int64
    var bundleID: Topic
    /// The environment of its pushes; `nil` is that of each device.
    var environment: PushEnvironment?
    var settings: ComponentSettings
    var secret: String
    var revision: UUID

    /// - Throws: ``RequestError`` for settings that another version has stored.
    init(_ record: BridgeRecord, bundleID: Topic) throws(RequestError) {
        (self.name, self.app, self.environment) = (record.name, record.app, record.environment)
        (self.bundleID, self.secret, self.revision) = (bundleID, record.secret, record.revision)
        self.settings = try ComponentSettings(record)
    }
}
