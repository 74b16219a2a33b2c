import Foundation
import NIOCore
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Synchronization

@testable import PushGateway

/// Records what is submitted, and settles it at once, later, or not at all.
final class TestSubmitter: PushSubmitter {
    private struct State {
        var submissions: [Submission] = []
        var gone: [String] = []
        var failing: Set<String>
    }

    private let state: Mutex<State>
    private let holds: Bool

    /// - Parameters:
    ///   - holds: Whether settling is left to ``settleAll()``.
    ///   - failing: The payloads that it cannot store.
    init(holds: Bool = false, failing: Set<String> = []) {
        self.holds = holds
        self.state = Mutex(State(failing: failing))
    }

    var pushes: [AcceptedPush] { self.state.withLock { $0.submissions.map(\.push) } }

    var payloads: [String] { self.pushes.map { String(buffer: $0.notification.payload) } }

    /// The inactive tokens that were reported.
    var gone: [String] { self.state.withLock { $0.gone } }

    func submit(_ submissions: [Submission]) {
        self.state.withLock { $0.submissions += submissions }
        if !self.holds { self.settle(submissions) }
    }

    func rejected(_ token: UnregisteredToken, apnsID: String) {
        self.state.withLock { $0.gone.append(token.token.hex) }
    }

    func settleAll() {
        self.settle(self.state.withLock { $0.submissions })
    }

    private func settle(_ submissions: [Submission]) {
        let failing = self.state.withLock { $0.failing }
        for submission in submissions {
            let payload = String(buffer: submission.push.notification.payload)
            let settlement = SubmissionResult(
                ticket: submission.ticket,
                rejection: failing.contains(payload) ? .internalServerError : nil
            )
            submission.owner.settled([settlement])
        }
    }
}

/// The tokens and certificates of the legacy listeners' tests.
enum LegacyFixtures {
    static let device = UUID()
    /// Token B of APNs reference 8 belongs to another app here.
    static let foreignToken = "2ca004c150548759e45a0c2ce605d028bec4f96268a707abb471d1de9056b203"
    static let goneToken = String(repeating: "ab", count: 32)
    static let goneSince = Timestamp(seconds: 1_699_999_000)

    static func status(of token: DeviceToken) -> TokenStatus {
        switch token.hex {
        case Vectors.tokenA, Vectors.tokenC: .active(device: self.device, topic: Self.hash(Vectors.bundleID))
        case self.foreignToken: .active(device: self.device, topic: Self.hash("com.example.Other"))
        case self.goneToken:
            .unregistered(
                .init(token: token, device: self.device, topic: Self.hash(Vectors.bundleID), since: self.goneSince)
            )
        default: .unknown
        }
    }

    static func identity(
        topics: [String] = [Vectors.bundleID],
        environments: Set<PushEnvironment> = [.sandbox]
    ) -> CertificateIdentity {
        let topics = topics.compactMap { Topic($0) }
        guard let first = topics.first else { preconditionFailure("no topic") }
        return CertificateIdentity(serial: "01", environments: environments, defaultTopic: first, topics: Set(topics))
    }

    /// Takes every certificate for `identity`.
    static func certificates(_ identity: Result<CertificateIdentity, Reason>) -> CertificateCheck {
        CertificateCheck(environment: .sandbox, identify: { _ in identity })
    }

    static func listener(
        _ submitter: TestSubmitter = TestSubmitter(),
        identity: Result<CertificateIdentity, Reason>,
        isStrict: Bool = false,
        time: any TimeSource = ManualTime(),
        configure: (inout BinaryServerStateMachine.Limits) -> Void = { _ in }
    ) -> BinaryListener {
        var limits = BinaryServerStateMachine.Limits()
        configure(&limits)
        return BinaryListener(
            status: Self.status,
            submitter: submitter,
            certificates: Self.certificates(identity),
            faults: FaultPlan(),
            isStrict: isStrict,
            limits: limits,
            time: time,
            logger: silentLogger
        )
    }

    static func hash(_ topic: String) -> TopicHash {
        guard let topic = Topic(topic) else { preconditionFailure("no topic: \(topic)") }
        return TopicHash(topic)
    }
}
