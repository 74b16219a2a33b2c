import Metrics
import NIOCore
import PushTypes

/// The metrics of a sender, for the program's swift-metrics backend. `martlet_sender_outcomes` counts pushes by
/// `outcome`. `martlet_sender_credential_expires` is a UNIX time in seconds for each `certificate`, by its common name.
/// `martlet_sender_response` is the time from a request to its response. All have the dimension `service`, which is the
/// host of the push service, and the environment if it is known.
struct SenderMetrics: Sendable {
    private let accepted: Counter
    private let rejected: Counter
    private let notSent: Counter
    private let unknown: Counter
    private let responses: Metrics.Timer
    private let dimensions: [(String, String)]

    init(service: String, environment: PushEnvironment? = nil) {
        let dimensions = [("service", service)] + (environment.map { [("environment", $0.rawValue)] } ?? [])
        func counter(_ outcome: String) -> Counter {
            Counter(label: "martlet_sender_outcomes", dimensions: dimensions + [("outcome", outcome)])
        }
        self.accepted = counter("accepted")
        self.rejected = counter("rejected")
        self.notSent = counter("not_sent")
        self.unknown = counter("unknown")
        self.responses = Metrics.Timer(label: "martlet_sender_response", dimensions: dimensions)
        self.dimensions = dimensions
    }

    func responded(after time: TimeAmount) { self.responses.recordNanoseconds(time.nanoseconds) }

    func count(_ results: some Collection<SendResult>) {
        var (accepted, rejected, notSent, unknown) = (0, 0, 0, 0)
        for result in results {
            switch result.outcome {
            case .accepted: accepted += 1
            case .rejected: rejected += 1
            case .notSent: notSent += 1
            case .unknown: unknown += 1
            }
        }
        if accepted > 0 { self.accepted.increment(by: accepted) }
        if rejected > 0 { self.rejected.increment(by: rejected) }
        if notSent > 0 { self.notSent.increment(by: notSent) }
        if unknown > 0 { self.unknown.increment(by: unknown) }
    }

    /// Records the expiration time of a certificate. A signing key, which has none, is ignored.
    func credentialChanged(_ credential: PushCredential) {
        guard case .certificate(let certificate) = credential else { return }
        let dimensions = self.dimensions + [("certificate", certificate.commonName)]
        Gauge(label: "martlet_sender_credential_expires", dimensions: dimensions).record(certificate.expires.seconds)
    }
}
