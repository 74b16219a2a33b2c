import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes
import ServiceLifecycle

/// The bridge for legacy providers, which speak Apple's binary protocol.
struct BinaryBridge: BridgeFeature {
    static let kind = BridgeKind.binary
    static let settings: (any BridgeSettings.Type)? = BinaryBridgeSettings.self
    static let metrics = [
        MetricDescription(
            "martlet_binary_bridge_notifications_total",
            "Notifications of old providers, by bridge and result."
        )
    ]

    /// The service that runs the listeners, or `nil` if none is configured.
    let service: BinaryBridgeService?

    init(_ components: BridgeComponents) throws {
        self.service = try components.configuration.binary.map { try BinaryBridgeService($0, components.provider) }
    }

    var services: [any Service] { self.service.map { [$0] } ?? [] }
}

/// The settings of a bridge for legacy providers. The name of such a bridge is the topic of their certificates.
struct BinaryBridgeSettings: BridgeSettings, Hashable {
    /// The maximum number of certificates of one bridge. Settings that list more are rejected.
    private static let maximumCertificates = 100
    /// The maximum length of a fingerprint in settings, in characters, including the colons that some tools write. A
    /// longer one is rejected.
    private static let maximumFingerprint = 95

    private enum Members {
        static let certificates = Member.texts(
            "certificates",
            0...BinaryBridgeSettings.maximumCertificates,
            maximum: BinaryBridgeSettings.maximumFingerprint
        )
        .described("The SHA-256 fingerprints of the certificates that may push.")
        .parsedEach("invalid_value", "write the SHA-256 fingerprint of a certificate, 64 hexadecimal digits") { text in
            Hexadecimal.decode(text.filter { $0 != ":" }).flatMap { $0.count == 32 ? Hexadecimal.encode($0) : nil }
        }
        static let dropsRepeats = Member.bool("dropsRepeats")
            .described("Drops a repeated push that was stored before its connection broke. Default true.")
    }

    static let object = RequestObject(optional: [Members.certificates, Members.dropsRepeats])

    /// The SHA-256 fingerprints of the certificates that may push, each as 64 lower-case hexadecimal digits. If it is
    /// empty, all certificates of the topic that the listener's authority has signed may push.
    let certificates: Set<String>
    /// A Boolean value that indicates whether a push that was stored before its connection broke is dropped when it
    /// arrives again.
    let dropsRepeats: Bool

    init(_ fields: JSONFields) throws(RequestError) {
        self.certificates = Set(try fields.value(Members.certificates) ?? [])
        self.dropsRepeats = try fields.value(Members.dropsRepeats) ?? true
    }

    static func check(name: String) throws(RequestError) {
        guard Topic(name) != nil else {
            throw .invalid("bridge", "the name is the topic of the old provider's certificate, its UID")
        }
    }
}
