import Crypto
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Finds old providers by their certificates.
final class BinaryClientDirectory: Sendable {
    /// The bridges as they were read, by their topics.
    private struct Bridges: Sendable {
        var records: [Topic: (bridge: BridgeRecord, settings: BinaryBridgeSettings)] = [:]
        /// The topics of the bridges that name a fingerprint.
        var topics: [String: Set<Topic>] = [:]
    }

    /// The time after which they are read again without a change of bridges, because apps change too.
    private static let longestAge: Duration = .seconds(10)

    private let store: any ProviderStore
    /// Indicates whether the listener checks certificates against an authority, so that their topics can be believed.
    private let trustsTopics: Bool
    private let bridges: BridgeCache<Bridges>

    init(store: any ProviderStore, trustsTopics: Bool, time: any TimeSource) {
        (self.store, self.trustsTopics) = (store, trustsTopics)
        self.bridges = BridgeCache(store: store, aging: (Self.longestAge, time)) { try await Self.bridges($0) }
    }

    /// Returns the provider with a certificate.
    /// - Parameter der: The certificate in DER, whose key the client has; `nil` without one.
    func client(_ der: [UInt8]?) async throws -> Result<BinaryClient, BinaryClientRejection> {
        guard let der else { return .failure(.noCertificate) }
        guard let details = CertificateDetails(derEncoded: der) else { return .failure(.unreadableCertificate) }
        let fingerprint = Hexadecimal.encode(SHA256.hash(data: der))
        let bridges = try await self.bridges.value
        let own = details.userID.flatMap { Topic($0) }
        let named = bridges.topics[fingerprint] ?? []
        // No bridge takes a certificate away from that of the certificate's topic.
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
                fingerprint: fingerprint,
                dropsRepeats: settings.dropsRepeats
            )
        )
    }

    /// Returns the provider with a certificate, if its app can push.
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

    /// Returns `false` once the bridge of a provider has changed so that its certificate does not count any more.
    func isCurrent(_ client: BinaryClient) async throws -> Bool {
        guard let (bridge, settings) = try await self.bridges.value.records[client.topic] else { return false }
        return bridge.app == client.app
            && (settings.certificates.isEmpty ? self.trustsTopics : settings.certificates.contains(client.fingerprint))
    }

    /// Returns all bridges for old providers, with their settings.
    func all() async throws -> [(bridge: BridgeRecord, settings: BinaryBridgeSettings)] {
        Array(try await self.bridges.value.records.values)
    }

    private static func bridges(_ store: any ProviderStore) async throws -> Bridges {
        var bridges = Bridges()
        // A topic is its app's alone, also if a neighbour has taken it before.
        let overruled = Set(try await store.overruledBridges(kind: .binary).map(\.name))
        for bridge in try await store.bridges(kind: .binary) where !overruled.contains(bridge.name) {
            guard let topic = Topic(bridge.name), let settings = try? BinaryBridgeSettings(bridge) else { continue }
            bridges.records[topic] = (bridge, settings)
            for fingerprint in settings.certificates { bridges.topics[fingerprint, default: []].insert(topic) }
        }
        return bridges
    }
}

extension ConfigurationFault.Cause {
    /// Indicates whether the push service rejects the credential or the topic, which an operator has to mend.
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
