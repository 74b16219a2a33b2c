import PushSender
import PushStore
import PushSupport
import PushTypes

/// The recipients of a page whose outcomes prove configuration faults.
struct FaultyRecipients {
    private(set) var all: [(recipient: Recipient, outcome: Outcome, trip: PushTrip?)] = []
    /// The faults with the numbers of their outcomes.
    private(set) var counts: [ConfigurationFault: Int] = [:]

    var isEmpty: Bool { self.all.isEmpty }

    /// The commonest fault.
    var commonest: (fault: ConfigurationFault, count: Int)? {
        self.counts.max { ($0.value, $1.key.detail) < ($1.value, $0.key.detail) }.map { ($0.key, $0.value) }
    }

    mutating func add(
        _ recipient: Recipient,
        _ outcome: Outcome,
        _ fault: ConfigurationFault,
        _ trip: PushTrip?
    ) {
        self.all.append((recipient, outcome, trip))
        self.counts[fault, default: 0] += 1
    }
}

extension OutcomeEvaluator {
    /// Indicates that a rejection says only that the push service has no broadcasts, and nothing about pushes.
    func isOfBroadcasts(_ fault: ConfigurationFault, _ outcome: Outcome) -> Bool {
        guard self.notification.channel != nil, case .rejected = outcome else { return false }
        return fault.cause == .wrongProtocol
    }

    /// Pauses an environment whose credential cannot be used.
    mutating func pause(_ environment: PushEnvironment, _ fault: ConfigurationFault) async {
        _ = await self.record(fault, count: 1, isRefuted: false, in: environment)
    }

    /// Holds recipients back for a configuration fault that is proven. While it is not, they are tried again as usual,
    /// and the tries that the push service responded to count.
    mutating func apply(_ faulty: FaultyRecipients, of batch: PageDraft.PushBatch, accepted: Int) async {
        guard let (fault, count) = faulty.commonest else { return }
        let isHeld: Bool
        if fault.cause == .topicDisallowed, !self.isTopicOfApp {
            // The topic is the notification's own: other notifications have others.
            if accepted == 0 { self.pauseNotification(fault) }
            isHeld = false
        } else {
            // One connection failed all of them.
            let proofs = fault.cause.isOfConnection ? 1 : count
            isHeld = await self.record(fault, count: proofs, isRefuted: accepted > 0, in: batch.environment)
        }
        for (recipient, outcome, trip) in faulty.all {
            self.trip = trip
            if recipient.movedFrom != nil {
                self.abandon(recipient, .init(outcome))
            } else if isHeld {
                self.hold(recipient, outcome, fault)
            } else {
                self.tryAgain(recipient, outcome)
            }
        }
    }

    /// Counts the proofs of a fault.
    /// - Returns: `true` if the environment is paused.
    private mutating func record(
        _ fault: ConfigurationFault,
        count: Int,
        isRefuted: Bool,
        in environment: PushEnvironment
    ) async -> Bool {
        let recorded = await self.faults.record(
            fault,
            count: count,
            isRefuted: isRefuted,
            of: AppEnvironment(app: self.notification.record.app, environment: environment),
            epoch: self.notification.epochs[environment] ?? 0
        )
        if let request = recorded?.request { self.add(request) }
        return recorded != nil
    }

    /// Indicates whether the notification's topic is the app's bundle id.
    private var isTopicOfApp: Bool { self.notification.app?.bundleID == self.notification.record.content.topic }
}
