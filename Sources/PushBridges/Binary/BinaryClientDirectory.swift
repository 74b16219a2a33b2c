import Crypto
import ProviderModel
import PushStore
import PushSupport
import PushTypes
import PushWire

/// A legacy provider, identified by its certificate.
struct BinaryClient: Hashable, Sendable {
    /// The name of the bridge that accepts the certificate.
    let bridge: String
    let app: Int64
    let topic: Topic
    let environment: PushEnvironment
    /// The topic in the certificate, or `nil` if the certificate has none.
    let certificateTopic: Topic?
    /// The SHA-256 fingerprint of the certificate, in hexadecimal.
    let fingerprint: String
    let dropsRepeats: Bool

    var target: AppEnvironment { AppEnvironment(app: self.app, environment: self.environment) }
}

/// The reason why a legacy provider may not push or read feedback.
enum BinaryClientRejection: Error, Hashable, CustomStringConvertible {
    case noCertificate
    case unreadableCertificate
    /// The rejection of a certificate of which no bridge accepts the fingerprint or the topic. `topic` is `nil` if the
    /// certificate has none.
    case unknownCertificate(fingerprint: String, topic: String?)
    case noApp
    /// The rejection if the app cannot push to the environment, because it has no credential there, or a fault of its
    /// credential or topic has paused the environment.
    case cannotSend(PushEnvironment, reason: String)
    /// The rejection if the bridges cannot be read, or the budget of connections is exhausted. Another attempt may
    /// succeed.
    case unavailable(String)

    /// The status with which the connection's first notification is rejected (reference 5.2). It tells the legacy
    /// provider whether it may send the notification again.
    var status: BinaryStatus { if case .unavailable = self { .processingError } else { .missingTopic } }

    var description: String {
        switch self {
        case .noCertificate: "the client has no certificate"
        case .unreadableCertificate: "the client's certificate cannot be read"
        case .unknownCertificate(let fingerprint, let topic):
            "no bridge has the certificate \(fingerprint) of topic \(topic ?? "none")"
        case .noApp: "the bridge's app does not exist any more"
        case .cannotSend(let environment, let reason): "the app cannot push to \(environment.rawValue): \(reason)"
        case .unavailable(let error): "the bridges cannot be read: \(error)"
        }
    }
}

/// Finds legacy providers by their certificates.
final class BinaryClientDirectory: Sendable {
    private struct Bridges: Sendable {
        var records: [Topic: (bridge: BridgeRecord, settings: BinaryBridgeSettings)] = [:]
        /// The topics of the bridges that list a certificate, by the certificate's fingerprint.
        var topics: [String: Set<Topic>] = [:]
        var apps: [Topic: Int64] = [:]
    }

    private let store: any AppStore & BridgeStore & EnvironmentStore
    /// A Boolean value that indicates whether the listener verifies certificates against authorities, so that their
    /// topics can be trusted.
    private let trustsTopics: Bool
    private let bridges: BridgeCache<Bridges>

    init(store: any AppStore & BridgeStore & EnvironmentStore, trustsTopics: Bool) {
        (self.store, self.trustsTopics) = (store, trustsTopics)
        self.bridges = BridgeCache(store: store) { try await Self.bridges($0) }
    }

    /// Returns the legacy provider that a certificate identifies, or the reason why no bridge accepts the certificate.
    /// - Parameter der: The certificate in DER, or `nil` if the client sent none. The client has proven possession of
    ///   its key.
    func client(_ der: [UInt8]?) async throws -> Result<BinaryClient, BinaryClientRejection> {
        guard let der else { return .failure(.noCertificate) }
        guard let details = CertificateDetails(derEncoded: der) else { return .failure(.unreadableCertificate) }
        let fingerprint = Hexadecimal.encode(SHA256.hash(data: der))
        let bridges = try await self.bridges.value
        let own = details.userID.flatMap { Topic($0) }
        let owner = self.owner(of: own, in: bridges)
        let named = (bridges.topics[fingerprint] ?? []).filter { topic in
            owner == nil || owner == bridges.records[topic]?.bridge.app
        }
        // Another bridge cannot claim a certificate whose topic has a bridge.
        let isOwn = own.map { topic in
            named.contains(topic) || self.trustsTopics && bridges.records[topic]?.settings.certificates.isEmpty ?? false
        }
        let topic = isOwn ?? false ? own : named.min { $0.name < $1.name }
        guard let topic, let (bridge, settings) = bridges.records[topic],
            settings.certificates.isEmpty || settings.certificates.contains(fingerprint)
        else { return .failure(.unknownCertificate(fingerprint: fingerprint, topic: own?.name)) }
        let only = details.environments.count == 1 ? details.environments.first : nil
        return .success(
            BinaryClient(
                bridge: bridge.name,
                app: bridge.app,
                topic: topic,
                environment: bridge.environment ?? only ?? .production,
                certificateTopic: own,
                fingerprint: fingerprint,
                dropsRepeats: settings.dropsRepeats
            )
        )
    }

    /// Returns the legacy provider that a certificate identifies, or a rejection if no bridge accepts the certificate
    /// or the app cannot push.
    /// - Parameter der: The certificate in DER, or `nil` if the client sent none.
    func sendingClient(_ der: [UInt8]?) async throws -> Result<BinaryClient, BinaryClientRejection> {
        guard case .success(let client) = try await self.client(der) else { return try await self.client(der) }
        guard try await self.store.app(id: client.app) != nil else { return .failure(.noApp) }
        guard try await self.store.environments(app: client.app).contains(client.environment) else {
            return .failure(.cannotSend(client.environment, reason: "it has no credential"))
        }
        let pause = try await self.store.environmentPauses().first { $0.target == client.target }
        guard let fault = pause?.fault, fault.cause.isOfCredential else { return .success(client) }
        return .failure(.cannotSend(client.environment, reason: fault.detail))
    }

    /// Returns the id of the app that owns the topic of a certificate, or `nil` if any app's bridge may list the
    /// certificate.
    private func owner(of topic: Topic?, in bridges: Bridges) -> Int64? {
        // Without an authority, the topic is only a claim of the creator of the certificate.
        guard self.trustsTopics, let topic else { return nil }
        return topic.owner { bridges.apps[$0] }
    }

    /// Returns `true` if the legacy provider's certificate is still accepted, and `false` after a change of bridges or
    /// apps by which it no longer is.
    func isCurrent(_ client: BinaryClient) async throws -> Bool {
        let bridges = try await self.bridges.value
        guard let (bridge, settings) = bridges.records[client.topic], bridge.app == client.app else { return false }
        let owner = self.owner(of: client.certificateTopic, in: bridges)
        return (owner == nil || owner == client.app)
            && (settings.certificates.isEmpty ? self.trustsTopics : settings.certificates.contains(client.fingerprint))
    }

    func all() async throws -> [(bridge: BridgeRecord, settings: BinaryBridgeSettings)] {
        Array(try await self.bridges.value.records.values)
    }

    private static func bridges(_ store: any AppStore & BridgeStore) async throws -> Bridges {
        var bridges = Bridges()
        for app in try await store.apps() { bridges.apps[app.bundleID] = app.id }
        for bridge in try await store.bridges(kind: .binary) {
            guard let topic = Topic(bridge.name), let settings = try? BinaryBridgeSettings(bridge) else { continue }
            // A topic belongs to its app, even if another app had configured it before.
            let owner = topic.owner { bridges.apps[$0] }
            guard owner == nil || owner == bridge.app else { continue }
            bridges.records[topic] = (bridge, settings)
            for fingerprint in settings.certificates { bridges.topics[fingerprint, default: []].insert(topic) }
        }
        return bridges
    }
}

extension ConfigurationFault.Cause {
    /// A Boolean value that indicates whether an operator must correct a credential or a topic to end the fault. It is
    /// `false` for faults of the connection.
    fileprivate var isOfCredential: Bool {
        switch self {
        case .credentialRejected, .credentialExpired, .credentialUnusable, .credentialMissing, .topicDisallowed,
            .clientCertificateRejected:
            true
        case .untrustedServer, .wrongProtocol, .proxy, .proxyUnavailable, .unknownHost, .refused, .unreachable,
            .timeout, .closed, .noConnection, .clock:
            false
        }
    }
}
