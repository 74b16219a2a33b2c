package import PushSender
package import PushTypes
import Synchronization

/// A push service that answers as told and remembers what it was sent.
package final class ScriptedSender: SenderSource {
    package struct Sent: Hashable, Sendable {
        package var notification: PushNotification
        package var token: DeviceToken
        package var environment: PushEnvironment
        package var lane: SenderLane
        /// The header fields besides those of the notification, such as a broadcast's channel.
        package var fields: [HeaderField] = []
    }

    private struct Place: Hashable {
        var token: DeviceToken
        /// `nil`: in any.
        var environment: PushEnvironment?
    }

    private struct State {
        var sent: [Sent] = []
        var answers: [Place: [Outcome]] = [:]
        var standing: [PushEnvironment: Outcome] = [:]
        var observer: (@Sendable (Sent) async -> Void)?
        var recallObserver: (@Sendable () -> Void)?
        var tests = 0
        var testObserver: (@Sendable () async -> Void)?
        var connections: AppConnectionObserver?
    }

    private let state = Mutex(State())
    /// The channels of each environment.
    package let channels: [PushEnvironment: ScriptedChannels] = [
        .sandbox: ScriptedChannels(), .production: ScriptedChannels(),
    ]

    package init() {}

    package var sent: [Sent] { self.state.withLock { $0.sent } }

    /// What the next sends to `token` come to, one after the other; then, and without a script, everything is accepted.
    package func script(_ token: DeviceToken, in environment: PushEnvironment? = nil, _ outcomes: Outcome...) {
        self.state.withLock { $0.answers[Place(token: token, environment: environment), default: []] += outcomes }
    }

    /// What every send in this environment comes to from now on, unless it has a script; `nil`: accepted.
    package func always(_ outcome: Outcome?, in environment: PushEnvironment) {
        self.state.withLock { $0.standing[environment] = outcome }
    }

    /// The number of pushes of tests of a credential, which ``sent`` leaves out.
    package var tests: Int { self.state.withLock { $0.tests } }

    /// Runs while a push of a test of a credential is on its way.
    package func onTest(_ observer: @escaping @Sendable () async -> Void) {
        self.state.withLock { $0.testObserver = observer }
    }

    /// Reports a connection that could not be opened, or `nil` for one that is open.
    package func connection(_ failure: Outcome.Failure?, app: Int64, in environment: PushEnvironment) {
        self.state.withLock { $0.connections }?(app, environment, failure)
    }

    package func observe(_ observer: @escaping AppConnectionObserver) {
        self.state.withLock { $0.connections = observer }
    }

    package func testSender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) -> any NotificationSender {
        Test(service: self, environment: environment)
    }

    /// Runs while a push is on its way, before its outcome is there.
    package func onSend(_ observer: (@Sendable (Sent) async -> Void)?) {
        self.state.withLock { $0.observer = observer }
    }

    /// Runs after pushes were taken back, as far as that was possible.
    package func onTakeBack(_ observer: @escaping @Sendable () -> Void) {
        self.state.withLock { $0.recallObserver = observer }
    }

    package func sender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment,
        lane: SenderLane
    ) -> any NotificationSender {
        Lane(service: self, environment: environment, lane: lane)
    }

    package func channels(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) -> any ChannelServiceClient {
        self.channels[environment] ?? ScriptedChannels()
    }

    private func send(_ push: Sent) async -> Outcome {
        let observer = self.state.withLock { state in
            state.sent.append(push)
            return state.observer
        }
        await observer?(push)
        return self.state.withLock { state in
            for environment in [push.environment, nil] {
                let place = Place(token: push.token, environment: environment)
                guard let next = state.answers[place]?.first else { continue }
                state.answers[place]?.removeFirst()
                return next
            }
            return state.standing[push.environment] ?? .accepted(.init(id: push.notification.id))
        }
    }

    /// The sender of a test: the outcome is that of every push, or that the token is unknown.
    private struct Test: NotificationSender {
        let service: ScriptedSender
        let environment: PushEnvironment

        func send(_ pushes: [Push]) async -> [Outcome] {
            await self.service.state.withLock { $0.testObserver }?()
            return self.service.state.withLock { state in
                state.tests += pushes.count
                let unknown = Outcome.rejected(Rejection(status: 400, reasonText: Reason.badDeviceToken.rawValue))
                return pushes.map { _ in state.standing[self.environment] ?? unknown }
            }
        }
    }

    private struct Lane: NotificationSender {
        let service: ScriptedSender
        let environment: PushEnvironment
        let lane: SenderLane

        func send(_ pushes: [Push]) async -> [Outcome] { await self.send(pushes, SteppedCall(count: pushes.count)) }

        func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes {
            let service = self.service
            let call = SteppedCall(count: pushes.count) { service.state.withLock { $0.recallObserver }?() }
            began(call)
            return SentPushes(outcomes: await self.send(pushes, call))
        }

        private func send(_ pushes: [Push], _ call: SteppedCall) async -> [Outcome] {
            var outcomes: [Outcome] = []
            for (index, push) in pushes.enumerated() {
                guard call.begins(index) else {
                    outcomes.append(.notSent(.takenBack))
                    continue
                }
                let sent = Sent(
                    notification: push.notification,
                    token: push.token,
                    environment: self.environment,
                    lane: self.lane,
                    fields: push.additionalHeaders
                )
                outcomes.append(await self.service.send(sent))
            }
            return outcomes
        }
    }
}
