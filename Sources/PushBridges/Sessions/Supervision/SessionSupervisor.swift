package import NIOCore
package import ProviderModel
package import PushSupport
package import PushTypes

/// Decides when a session reconnects, whether the user is away, and which pushes are sent.
///
/// It contains the protocol's state machine while there is a connection. The handlers of events return the actions to
/// perform, in order. Deadlines are by the steady clock.
package struct SessionSupervisor: Sendable {
    package struct Limits: Sendable {
        /// The back-off after failures: the first delay and the maximum delay. Each delay is chosen at random between
        /// half of it and all of it.
        package var retry = Backoff(base: .seconds(10), maximum: .seconds(300))
        /// The minimum time between two attempts to connect.
        package var shortestRetry: Duration = .seconds(5)
        package var opening: Duration = .seconds(90)
        /// The time for which a session must be signed in before its earlier failures are forgotten.
        package var stable: Duration = .seconds(60)
        /// The number of consecutive refusals by the server that end a session that was signed in before. Several are
        /// needed because a network's services may refuse everyone while they restart. A session that was never signed
        /// in ends at the first refusal. After as many possible refusals, attempts become rare (``seldom``).
        package var refusals = 3
        /// The maximum delay before an attempt that follows possible refusals. Such a failure may have another cause,
        /// because a server that restarts also closes connections without an error.
        package var seldom: Duration = .seconds(3600)
        /// The time for which no messages are pushed after the user has written a message from another client.
        package var presence: Duration = .seconds(60)
        /// The maximum number of bytes from a server within ``window``. If a server that has accepted the account
        /// exceeds it, reading is paused for the rest of the window. If any other server exceeds it, the connection is
        /// closed. Default 4 MiB.
        package var bytes = 4 * 1024 * 1024
        package var window: Duration = .seconds(10)

        package init() {}
    }

    package enum Action: Hashable, Sendable {
        /// Connects when it is this session's turn. ``SessionSupervisor/began(at:)`` is called then, followed by
        /// ``SessionSupervisor/opened(_:at:)`` or ``SessionSupervisor/closed(_:at:)``.
        case open
        case send([UInt8])
        case startTLS
        case derive(PBKDF2Derivation)
        /// Closes the connection once the queued bytes are sent.
        case close
        case push(ChatPush)
    }

    private enum State: Hashable {
        case waiting(until: Timestamp)
        /// The state after the server seems to have refused the account. Attempts to connect are then rare.
        case refused(until: Timestamp)
        /// The state of a session that waits for its turn to connect.
        case queued
        case opening(deadline: Timestamp)
        case signedIn(since: Timestamp)
        case failed, stopped
    }

    private let limits: Limits
    private let settings: ChatPushSettings
    private var state = State.stopped
    private var session: (any ChatSession)?
    private var coalescer: PushCoalescer
    private var failures = 0
    private var refusals = 0
    private var wasSignedIn: Bool
    private var isAttached = false
    /// The time until which the user is treated as present after writing from another client, or `nil` for none.
    private var presentUntil: Timestamp?
    private var windowEnd = Timestamp(milliseconds: 0)
    private var windowBytes = 0
    private var random: SessionJitter
    package private(set) var lastError: String?
    /// The state that is passed to the next connection (``ChatMemory``).
    package private(set) var memory: ChatMemory

    /// Creates the supervisor of a session that has not started.
    /// - Parameters:
    ///   - wasSignedIn: Whether the server has accepted the current password before.
    ///   - seed: A number that differs between sessions, so that they do not reconnect at the same time.
    package init(
        settings: ChatPushSettings,
        memory: ChatMemory,
        wasSignedIn: Bool = false,
        seed: UInt64,
        coalescer: PushCoalescer = PushCoalescer(),
        limits: Limits = Limits()
    ) {
        (self.settings, self.memory, self.coalescer, self.limits) = (settings, memory, coalescer, limits)
        self.wasSignedIn = wasSignedIn
        self.random = SessionJitter(seed: seed)
    }

    package var status: ChatSessionStatus {
        switch self.state {
        case .waiting, .queued: .waiting
        case .opening: .signingIn
        case .signedIn: self.isAttached ? .attached : .signedIn
        case .refused, .failed: .failed
        case .stopped: .stopped
        }
    }

    package var condition: ChatSessionCondition { ChatSessionCondition(status: self.status, lastError: self.lastError) }

    /// The progress to store in the session's record: failures, processed messages and use of SCRAM.
    package var progress: ChatSessionProgress {
        ChatSessionProgress(
            hasFailed: self.state == .failed,
            lastError: self.lastError,
            seenThrough: self.session?.memory.seenThrough ?? self.memory.seenThrough,
            usesSCRAM: self.session?.memory.usesSCRAM ?? self.memory.usesSCRAM
        )
    }

    /// The next time at which ``timePassed(at:)`` must be called, or `nil` if no deadline is pending.
    package var nextDeadline: Timestamp? {
        var deadlines = [self.session?.nextDeadline, self.coalescer.nextDue, self.windowPause]
        switch self.state {
        case .waiting(let time), .refused(let time), .opening(let time): deadlines.append(time)
        case .queued, .signedIn, .failed, .stopped: break
        }
        return deadlines.compactMap(\.self).min()
    }

    /// Returns whether the server's bytes may be read now. If not, it must be called again after ``timePassed(at:)``.
    package func mayRead(at now: ClockReading) -> Bool {
        [self.session?.pausedUntil, self.windowPause].allSatisfy { end in end.map { $0 <= now.steady } ?? true }
    }

    private var windowPause: Timestamp? { self.windowBytes > self.limits.bytes ? self.windowEnd : nil }

    // MARK: Connecting

    /// Starts the session for the first time, or again after ``stop(isRemoved:)``.
    package mutating func start(at now: ClockReading) -> [Action] {
        guard self.session == nil else { return [] }
        self.state = .queued
        return [.open]
    }

    /// Begins a connection attempt at this session's turn. Returns `false` if the session no longer needs one.
    package mutating func began(at now: ClockReading) -> Bool {
        guard self.state == .queued else { return false }
        self.state = .opening(deadline: now.steady.advanced(by: self.limits.opening))
        return true
    }

    /// Starts the protocol on an open connection, on which TLS has begun if the protocol requires it from the start.
    package mutating func opened(_ session: any ChatSession, at now: ClockReading) -> [Action] {
        guard case .opening = self.state, self.session == nil else { return [.close] }
        self.session = session
        return self.perform(at: now) { $0.opened(at: now) }
    }

    package mutating func secured(at now: ClockReading) -> [Action] { self.perform(at: now) { $0.secured(at: now) } }

    package mutating func derived(_ key: [UInt8], at now: ClockReading) -> [Action] {
        self.perform(at: now) { $0.derived(key, at: now) }
    }

    package mutating func received(_ bytes: ByteBuffer, at now: ClockReading) -> [Action] {
        if now.steady >= self.windowEnd {
            (self.windowEnd, self.windowBytes) = (now.steady.advanced(by: self.limits.window), 0)
        }
        self.windowBytes += bytes.readableBytes
        if case .opening = self.state, self.windowBytes > self.limits.bytes {
            return self.fail(ChatFailure("the server sends more than it may"), at: now)
        }
        return self.perform(at: now) { $0.received(bytes, at: now) }
    }

    /// Handles the end of the connection, or a failure to open it.
    /// - Parameter failure: The cause, or `nil` if the server closed the connection.
    package mutating func closed(_ failure: ChatFailure?, at now: ClockReading) -> [Action] {
        switch self.state {
        case .opening, .signedIn:
            self.fail(failure ?? self.session?.closing ?? ChatFailure("the server closed the connection"), at: now)
        // The state machine itself has ended the connection.
        case .waiting, .refused, .queued, .failed, .stopped: []
        }
    }

    package mutating func timePassed(at now: ClockReading) -> [Action] {
        if now.steady >= self.windowEnd { self.windowBytes = 0 }
        var actions = self.coalescer.takeDue(at: now.steady).map(Action.push)
        switch self.state {
        case .waiting(let time) where time <= now.steady, .refused(let time) where time <= now.steady:
            return actions + self.start(at: now)
        case .opening(let deadline) where deadline <= now.steady:
            return actions
                + self.fail(ChatFailure("no sign-in within \(self.limits.opening.components.seconds) s"), at: now)
        case .waiting, .refused, .queued, .opening, .signedIn, .failed, .stopped: break
        }
        actions += self.perform(at: now) { $0.timePassed(at: now) }
        return actions
    }

    /// Stops the session. Waiting messages are pushed.
    /// - Parameter isRemoved: Whether the session's record was removed, for example with its user. Waiting messages are
    ///   then dropped.
    package mutating func stop(isRemoved: Bool = false) -> [Action] {
        self.state = .stopped
        if isRemoved { self.coalescer.forgetAll() }
        var actions = self.coalescer.takeAll().map(Action.push)
        if let last = self.session?.leave(), !last.isEmpty { actions.append(.send(last)) }
        self.forgetSession()
        return actions + [.close]
    }

    private mutating func forgetSession() {
        if let session { self.memory = session.memory }
        self.session = nil
        (self.windowEnd, self.windowBytes) = (Timestamp(milliseconds: 0), 0)
    }

    private mutating func fail(_ failure: ChatFailure, at now: ClockReading) -> [Action] {
        let wasStable =
            if case .signedIn(let since) = self.state { now.steady.since(since) >= self.limits.stable } else { false }
        self.failures = wasStable ? 1 : min(self.failures + 1, 1000)
        self.lastError = failure.reason
        self.forgetSession()
        let isRefusal = failure.isFinal || failure.mayBeRefusal && !self.wasSignedIn
        if isRefusal { self.refusals += 1 }
        let isRefused = isRefusal && self.refusals >= self.limits.refusals
        let share = Double.random(in: 0.5...1, using: &self.random)
        if failure.isFinal, isRefused || !self.wasSignedIn {
            self.state = .failed
        } else if isRefused {
            self.state = .refused(until: now.steady.advanced(by: self.limits.seldom * share))
        } else {
            let delay = max(self.limits.shortestRetry, self.limits.retry.limit(afterFailures: self.failures) * share)
            self.state = .waiting(until: now.steady.advanced(by: delay))
        }
        return [.close]
    }
}

// MARK: The protocol's actions

extension SessionSupervisor {
    /// Passes an event to the protocol's state machine and returns the actions to perform.
    private mutating func perform(at now: ClockReading, _ event: (inout any ChatSession) -> [ChatAction]) -> [Action] {
        guard var session = self.session else { return [] }
        self.session = nil
        let wanted = event(&session)
        self.session = session
        var actions: [Action] = []
        for action in wanted {
            switch action {
            case .send(let bytes): actions.append(.send(bytes))
            case .startTLS: actions.append(.startTLS)
            case .derive(let derivation): actions.append(.derive(derivation))
            case .signedIn:
                self.state = .signedIn(since: now.steady)
                (self.lastError, self.wasSignedIn, self.refusals) = (nil, true, 0)
            case .trouble(let reason): self.lastError = reason
            case .message(let message): actions += self.push(message, at: now.steady)
            case .attached(let isAttached):
                self.isAttached = isAttached
                if isAttached { self.coalescer.forgetAll() }
            case .wroteElsewhere(let conversation):
                self.coalescer.forget(conversation)
                self.presentUntil = now.steady.advanced(by: self.limits.presence)
            case .failed(let failure): return actions + self.fail(failure, at: now)
            }
        }
        return actions
    }

    private mutating func push(_ message: ChatMessage, at now: Timestamp) -> [Action] {
        if let end = self.presentUntil, end <= now { self.presentUntil = nil }
        guard !self.isAttached, self.presentUntil == nil, self.settings.wants(message) else { return [] }
        return self.coalescer.add(message, at: now).map { [.push($0)] } ?? []
    }
}

/// The random number generator for the jitter of one session (SplitMix64). The same seed yields the same numbers.
struct SessionJitter: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}

/// The status of a chat session.
package enum ChatSessionStatus: String, Hashable, Sendable, CaseIterable {
    /// The status of a session that waits for its turn to connect, or for its next attempt.
    case waiting
    /// The status of a session that is connecting or signing in.
    case signingIn
    /// The status of a signed-in session whose user is away, so that messages are pushed.
    case signedIn
    /// The status of a signed-in session whose user is present at another client, so that nothing is pushed.
    case attached
    /// The status after the server has permanently refused the session, or seems to have. In the second case, attempts
    /// to connect are rare.
    case failed
    /// The status of a session that was stopped by a request.
    case stopped
}

package struct ChatSessionCondition: Hashable, Sendable {
    package var status: ChatSessionStatus
    /// The last failure, or `nil` once the session is signed in again.
    package var lastError: String?
}
