import PushStore
import PushTypes
import PushWire

/// An old provider, known by its certificate.
struct BinaryClient: Hashable, Sendable {
    /// The name of the bridge.
    let bridge: String
    let app: Int64
    let topic: Topic
    let environment: PushEnvironment
    /// The topic in the certificate; `nil` without one.
    let certificateTopic: Topic?
    /// The SHA-256 of the certificate, in hexadecimal.
    let fingerprint: String
    let dropsRepeats: Bool

    var target: AppEnvironment { AppEnvironment(app: self.app, environment: self.environment) }
}

/// The reason for which an old provider may not push or read feedback.
enum BinaryClientRejection: Error, Hashable, CustomStringConvertible {
    case noCertificate
    case unreadableCertificate
    /// No bridge has this certificate or its topic.
    case unknownCertificate(fingerprint: String, topic: String?)
    case noApp
    /// The app cannot push to the environment: it has no credential, or its sending is paused for this reason.
    case cannotSend(PushEnvironment, reason: String)
    /// The bridges cannot be read now.
    case unavailable(String)

    /// The status of the first notification (reference 5.2): that of certificates, unless it may come again.
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
