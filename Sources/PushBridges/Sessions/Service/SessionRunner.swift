import NIOCore
import ProviderModel
import PushSupport
import PushTypes

struct RunningSession: Hashable, Sendable {
    var key: ChatSessionKey
    var app: Int64
    var bundleID: Topic
    var user: String
    var chatProtocol: ChatProtocol
    var host: String
    var showsText: Bool
}

struct ConnectionAttempt: Hashable, Sendable {
    /// The number of the connection, by which its events are told apart from those of earlier connections.
    var connection: Int
    var number: Int
    /// The state that the new connection takes over from the previous one.
    var memory: ChatMemory
}

/// Performs the actions of a ``SessionSupervisor``. It is used only on the event loop of its ``SessionLoop``.
final class SessionRunner {
    let session: RunningSession
    private var supervisor: SessionSupervisor
    private let loop: SessionLoop
    private var channel: (any Channel)?
    /// The host name for which the server's certificate must be valid. It is empty until a connection has opened.
    private var serverName = ""
    /// The number of the current connection. It is also incremented when the connection ends.
    private var connection = 0 {
        didSet {
            // The key is for an earlier connection, which no longer needs it.
            self.derivation?.cancel()
            self.derivation = nil
        }
    }
    /// The key derivation for which the current connection waits, or `nil` if there is none.
    private var derivation: KeyDerivationQueue.Job?
    private var attempts = 0
    /// The bytes that the current event has queued for sending.
    private var unsent: [UInt8] = []
    /// The number of pushes that wait for a permit. Reading is paused until none waits.
    private var unplaced = 0
    private var isReadHeld = false
    /// The deadline for which the loop has scheduled a call, or `nil` if none is scheduled.
    var scheduled: Timestamp?
    private var noted: ChatSessionProgress
    private var condition: ChatSessionCondition?

    init(_ session: RunningSession, supervisor: SessionSupervisor, loop: SessionLoop) {
        (self.session, self.supervisor, self.loop) = (session, supervisor, loop)
        self.noted = supervisor.progress
    }

    // MARK: Events

    func start() { self.perform { $0.start(at: $1) } }

    /// Begins a connection attempt when it is this session's turn. Returns `nil` if the session no longer needs one.
    func begin() -> ConnectionAttempt? {
        guard self.supervisor.began(at: self.loop.time.reading) else { return nil }
        self.connection += 1
        self.attempts += 1
        self.noteChanges()
        return ConnectionAttempt(connection: self.connection, number: self.attempts, memory: self.supervisor.memory)
    }

    /// Stores the channel of a new connection, or closes the channel if the session has begun a later connection.
    func adopt(_ channel: any Channel, _ connection: Int) {
        guard connection == self.connection else { return channel.close(promise: nil) }
        self.channel = channel
    }

    func opened(_ session: any ChatSession, _ connection: Int) {
        guard connection == self.connection else { return }
        self.serverName = session.serverName
        self.perform { $0.opened(session, at: $1) }
    }

    func secured(_ connection: Int) { self.perform(connection) { $0.secured(at: $1) } }

    func received(_ bytes: ByteBuffer, _ connection: Int) { self.perform(connection) { $0.received(bytes, at: $1) } }

    func closed(_ failure: ChatFailure?, _ connection: Int) { self.perform(connection) { $0.closed(failure, at: $1) } }

    func timePassed() {
        self.perform { $0.timePassed(at: $1) }
        self.readAgain()
    }

    /// Returns whether bytes may be read from a connection now. Otherwise, reading resumes later.
    func mayRead(_ connection: Int) -> Bool {
        guard connection == self.connection else { return true }
        self.isReadHeld = self.unplaced > 0 || !self.supervisor.mayRead(at: self.loop.time.reading)
        return !self.isReadHeld
    }

    private func readAgain() {
        if self.isReadHeld, self.mayRead(self.connection) { self.channel?.read() }
    }

    private func placed() {
        self.unplaced = max(0, self.unplaced - 1)
        self.readAgain()
    }

    /// Stops the session.
    /// - Parameter isRemoved: Whether the session's record was removed, so that waiting messages are not pushed.
    /// - Returns: A future that completes once the connection is closed, or `nil` if there is no connection.
    func stop(isRemoved: Bool = false) -> EventLoopFuture<Void>? {
        let closed = self.channel?.closeFuture
        self.perform { supervisor, _ in supervisor.stop(isRemoved: isRemoved) }
        self.loop.delegate.setCondition(nil, self.session)
        return closed
    }

    // MARK: Actions

    private func perform(
        _ connection: Int? = nil,
        _ event: (inout SessionSupervisor, ClockReading) -> [SessionSupervisor.Action]
    ) {
        guard connection == nil || connection == self.connection else { return }
        let actions = event(&self.supervisor, self.loop.time.reading)
        for action in actions { self.perform(action) }
        self.send()
        self.noteChanges()
    }

    private func perform(_ action: SessionSupervisor.Action) {
        switch action {
        case .open: self.loop.delegate.open(self.session, self.loop)
        case .send(let bytes): self.unsent += bytes
        case .startTLS:
            self.send()
            self.startTLS()
        case .derive(let derivation): self.derive(derivation)
        case .close:
            self.send()
            let channel = self.channel
            // Later reports of the connection's end are ignored.
            self.channel = nil
            self.connection += 1
            channel?.close(promise: nil)
        case .push(let push): self.push(push)
        }
    }

    /// Writes all bytes that one event has queued together, because one chunk may cause a thousand responses.
    private func send() {
        guard !self.unsent.isEmpty else { return }
        let bytes = ByteBuffer(bytes: self.unsent)
        self.unsent = []
        self.channel?.writeAndFlush(bytes, promise: nil)
    }

    private func push(_ push: ChatPush) {
        let (loop, key) = (self.loop, self.session.key)
        let hasPlace = loop.delegate.push(push, self.session) {
            loop.eventLoop.execute { loop.run(key) { $0.placed() } }
        }
        if !hasPlace { self.unplaced += 1 }
    }

    private func startTLS() {
        guard let channel else { return }
        do {
            let handler = try self.loop.connector.handler(for: self.serverName)
            try channel.pipeline.syncOperations.addHandler(handler, position: .first)
        } catch {
            self.closed(ChatFailure("TLS cannot begin: \(ErrorDescription.of(error))"), self.connection)
        }
    }

    private func derive(_ derivation: PBKDF2Derivation) {
        let (number, key, loop) = (self.connection, self.session.key, self.loop)
        let server = BudgetCaller(app: self.session.bundleID, .name(self.session.host))
        self.derivation = loop.derivations.derive(derivation, for: server) { derived in
            loop.eventLoop.execute { loop.run(key) { $0.perform(number) { $0.derived(derived, at: $1) } } }
        }
    }

    private func noteChanges() {
        self.loop.schedule(self, at: self.supervisor.nextDeadline)
        let progress = self.supervisor.progress
        if progress != self.noted {
            self.noted = progress
            self.loop.delegate.note(progress, self.session.key)
        }
        let condition = self.supervisor.condition
        if condition != self.condition {
            self.condition = condition
            self.loop.delegate.setCondition(condition, self.session)
        }
    }
}
