import Foundation
import NIOSSL
import ProviderModel
import PushProvider
import PushSupport
import PushTypes

/// The settings of an XMPP push component: its server, and the content of its pushes.
struct ComponentSettings: BridgeSettings, Hashable {
    enum Security: String, Hashable, Sendable, CaseIterable {
        /// Implicit TLS, which begins with the first byte.
        case direct
        case none
    }

    private static let standardPort: Int64 = 5347

    private enum Members {
        static let host = Member.text("host", 1...253).described("The server.")
        static let port = Member.integer("port", 1...65_535).described("Default \(ComponentSettings.standardPort).")
        static let tls = Member.choice("tls", of: Security.self)
            .described("Default none to the same machine, else direct: TLS begins with the first byte.")
        static let trust = Member.text("trust", 1...48 * 1024)
            .described("The certificates in PEM that the server's is checked against. Default those of the system.")
        static let title = Member.text("title", 1...256)
        static let body = Member.text("body", 1...1024)
        static let sound = Member.text("sound", 1...128)
        static let accountMember = Member.text("accountMember", 1...64)
            .described("The member of the payload for the account tag. Default account.")
        static let consentCategory = Member.text("consentCategory", 1...Preferences.maximumCategory)
            .described("The category that users may opt out of. Default none.")
        static let registration = Member.texts(
            "registration",
            0...RegistrationDialect.allCases.count,
            maximum: 16,
            as: .choice(of: RegistrationDialect.self)
        )
        .described("The dialects in which clients may register themselves. Default none.")
        static let publicOnly = Member.bool("publicOnly")
    }

    static let object = RequestObject(
        required: [Members.host],
        optional: [
            Members.port, Members.tls, Members.trust, Members.title, Members.body, Members.sound,
            Members.accountMember, Members.consentCategory, Members.registration,
        ]
    )

    /// The member for ``isPublicOnly``, which is set if a caller with an API key for single apps named the server.
    static let hidden: [any RequestMemberProtocol] = [Members.publicOnly]

    var host: String
    var port: Int
    var security: Security
    /// The certificate authorities, in PEM, for the server's certificate, or `nil` for those of the system.
    var trust: String?
    var title: String
    var body: String?
    var sound: String
    /// The name of the payload member that contains the app's name for the chat account of a node.
    var accountMember: String
    var consentCategory: String?
    /// The dialects of ad-hoc commands with which clients may register themselves.
    var dialects: Set<RegistrationDialect>
    /// A Boolean value that indicates whether connections are opened only to addresses that callers with API keys for
    /// single apps may name.
    var isPublicOnly: Bool

    static func check(name: String) throws(RequestError) {
        guard JabberAddress.isDomain(name), name == name.lowercased() else {
            throw RequestError.invalid("bridge", "the name is the component's domain, in small letters")
        }
    }

    init(_ fields: JSONFields) throws(RequestError) {
        self.host = try fields.required(Members.host)
        self.port = Int(try fields.value(Members.port) ?? Self.standardPort)
        let security = try fields.value(Members.tls)
        self.security = security ?? (Self.isLoopback(self.host) ? .none : .direct)
        self.trust = try fields.value(Members.trust)
        self.title = try fields.value(Members.title) ?? "New message"
        self.body = try fields.value(Members.body)
        self.sound = try fields.value(Members.sound) ?? "default"
        self.accountMember = try fields.value(Members.accountMember) ?? "account"
        self.consentCategory = try fields.value(Members.consentCategory)
        let dialects = try fields.value(Members.registration) ?? []
        self.dialects = Set(dialects.compactMap(RegistrationDialect.init(rawValue:)))
        self.isPublicOnly = try fields.value(Members.publicOnly) ?? false
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

    /// Returns the certificates in ``trust``, or the system's default if it is `nil`. Throws an error if they cannot be
    /// parsed.
    func trustRoots() throws -> NIOSSLTrustRoots {
        guard let trust else { return .default }
        let certificates = try NIOSSLCertificate.fromPEMBytes(Array(trust.utf8))
        guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
        return .certificates(certificates)
    }

    /// Returns whether `host` is the loopback interface. Connections to it need no TLS.
    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.isIPAddress && host.hasPrefix("127.")
    }
}

struct ConfiguredComponent: Hashable, Sendable {
    var name: String
    var app: Int64
    var bundleID: Topic
    /// The environment of the component's pushes, or `nil` for that of each device.
    var environment: PushEnvironment?
    var settings: ComponentSettings
    var secret: String
    var revision: UUID

    /// Reads a stored bridge. Throws ``RequestError`` for settings of another version that this one cannot read.
    init(_ record: BridgeRecord, bundleID: Topic) throws(RequestError) {
        (self.name, self.app, self.environment) = (record.name, record.app, record.environment)
        (self.bundleID, self.secret, self.revision) = (bundleID, record.secret, record.revision)
        self.settings = try ComponentSettings(record)
    }
}

extension ComponentSettings {
    /// Returns the member that restricts the server to public addresses. A server that stays the same keeps its
    /// restriction or lack of one. A new server is checked and restricted.
    func hiddenMembers(
        replacing bridge: BridgeRecord?,
        _ policy: AddressPolicy
    ) throws(RequestError) -> [String: JSONValue] {
        let publicOnly: [String: JSONValue] = [Members.publicOnly.name: .bool(true)]
        if let bridge, let before = try? ComponentSettings(bridge), before.host == self.host, before.port == self.port {
            return before.isPublicOnly ? publicOnly : [:]
        }
        try self.checkServer(policy)
        return publicOnly
    }

    /// Checks the server of a caller with an API key for single apps, by the rules for webhooks and chat servers.
    ///
    /// A name is not resolved until the connection is opened. Here only names are rejected that always mean this host.
    /// - Throws: ``RequestError`` for an address that only this host or its network can reach, and for a port of
    ///   another service.
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
