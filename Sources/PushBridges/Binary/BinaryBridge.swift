import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// The settings of a bridge for old providers. Its name is the topic of their certificates.
struct BinaryBridgeSettings: BridgeSettings, Hashable {
    static let kind = BridgeKind.binary
    static let members: Set = ["certificates", "dropsRepeats"]

    /// The maximum number of certificates of one bridge.
    private static let maximumCertificates = 100
    /// The maximum length of a fingerprint, in characters. Tools write it with colons.
    private static let maximumFingerprint = 95

    /// The SHA-256 fingerprints of the certificates that may push, in 64 lower-case hexadecimal digits. Empty for all
    /// certificates of the topic that the authority of the listener has signed.
    let certificates: Set<String>
    /// Indicates whether a repeated push is dropped if it was stored before its connection broke.
    let dropsRepeats: Bool

    init(_ fields: JSONFields) throws(RequestError) {
        let texts = try fields.strings(
            "certificates",
            count: Self.maximumCertificates,
            maximum: Self.maximumFingerprint
        )
        var certificates: Set<String> = []
        for (index, text) in (texts ?? []).enumerated() {
            let digits = text.filter { $0 != ":" }
            guard let bytes = Hexadecimal.decode(digits), bytes.count == 32 else {
                let message = "write the SHA-256 fingerprint of a certificate, 64 hexadecimal digits"
                throw fields.error("certificates[\(index)]", "invalid_value", message)
            }
            certificates.insert(Hexadecimal.encode(bytes))
        }
        self.certificates = certificates
        self.dropsRepeats = try fields.bool("dropsRepeats") ?? true
    }

    static func check(name: String) throws(RequestError) {
        guard Topic(name) != nil else {
            throw .invalid("bridge", "the name is the topic of the old provider's certificate, its UID")
        }
    }
}
