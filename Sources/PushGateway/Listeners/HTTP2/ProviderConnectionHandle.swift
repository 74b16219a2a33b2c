import NIOCore
import PushTypes
import PushWire
import Synchronization

/// What may be done with a provider connection, from any thread.
///
/// Inside ``ProviderRequestDelegate/received(_:)`` everything takes effect at once and goes out with the turn's write.
/// Everywhere else it is put into a mailbox, which one task of the event loop empties: thousands of answers in a
/// millisecond cost one wake-up. After the end of the connection nothing happens.
final class ProviderConnectionHandle: Sendable {
    enum Command: Sendable {
        case answer(UInt32, ProviderResponse)
        case reset(UInt32, HTTP2ErrorCode)
        case announce(streamLimit: Int)
        case goAway(HTTP2ErrorCode, debugData: String, lastStream: UInt32?)
        case drain
        case stall
        case close
    }

    private struct Mailbox {
        var commands: [Command] = []
        /// Whether a task is on its way that will empty it.
        var isScheduled = false
        var isClosed = false
    }

    private let mailbox = Mutex(Mailbox())
    private let eventLoop: any EventLoop
    private let handler: NIOLoopBoundBox<ProviderConnectionHandler?>

    /// On the event loop only.
    init(_ handler: ProviderConnectionHandler, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.handler = NIOLoopBoundBox(handler, eventLoop: eventLoop)
    }

    /// Answers to requests; dropped for streams that nobody waits for any more.
    func answer(_ answers: [(stream: UInt32, answer: ProviderResponse)]) {
        if let handler = self.handlerInTurn { return handler.answer(answers) }
        self.post { commands in
            for (stream, answer) in answers { commands.append(.answer(stream, answer)) }
        }
    }

    func answer(_ stream: UInt32, _ answer: ProviderResponse) {
        self.perform(.answer(stream, answer))
    }

    /// Ends one stream without an answer.
    func reset(_ stream: UInt32, _ code: HTTP2ErrorCode) {
        self.perform(.reset(stream, code))
    }

    /// A new limit of concurrent streams, up or down (reference 1.3).
    func announce(streamLimit: Int) {
        self.perform(.announce(streamLimit: streamLimit))
    }

    /// GOAWAY at once: streams above `lastStream` are forgotten unanswered, the others are answered before the end.
    /// - Parameters:
    ///   - debugData: JSON with a `reason`, or plain text.
    ///   - lastStream: by default the highest that the client has opened.
    func goAway(_ code: HTTP2ErrorCode, debugData: String, lastStream: UInt32? = nil) {
        self.perform(.goAway(code, debugData: debugData, lastStream: lastStream))
    }

    /// GOAWAY with the reason as Apple writes it.
    func goAway(_ reason: Reason, lastStream: UInt32? = nil) {
        self.goAway(.noError, debugData: #"{"reason":"\#(reason.text)"}"#, lastStream: lastStream)
    }

    /// Ends the connection in order, with reason `Shutdown`.
    func drain() {
        self.perform(.drain)
    }

    /// Nothing more is read or written, and the connection stays open: a fault.
    func stall() {
        self.perform(.stall)
    }

    /// Ends the connection without a word.
    func close() {
        self.perform(.close)
    }

    // MARK: The handler's side

    /// Everything in the mailbox, in order.
    func takeCommands() -> [Command] {
        self.mailbox.withLock { mailbox in
            mailbox.isScheduled = false
            var commands: [Command] = []
            swap(&commands, &mailbox.commands)
            return commands
        }
    }

    /// On the event loop: the connection has ended.
    func detach() {
        self.handler.value = nil
        self.mailbox.withLock { $0 = Mailbox(isClosed: true) }
    }

    // MARK: Posting

    private func perform(_ command: Command) {
        if let handler = self.handlerInTurn { return handler.perform(command) }
        self.post { $0.append(command) }
    }

    /// The handler, when it is just calling its receiver: commands then take effect at once, after those that wait.
    private var handlerInTurn: ProviderConnectionHandler? {
        guard self.eventLoop.inEventLoop, let handler = self.handler.value, handler.isInTurn else { return nil }
        if self.mailbox.withLock({ !$0.commands.isEmpty }) { handler.emptyMailbox() }
        return handler
    }

    private func post(_ add: (inout [Command]) -> Void) {
        let mustSchedule = self.mailbox.withLock { mailbox in
            guard !mailbox.isClosed else { return false }
            add(&mailbox.commands)
            defer { mailbox.isScheduled = true }
            return !mailbox.isScheduled
        }
        guard mustSchedule else { return }
        self.eventLoop.execute { self.handler.value?.work() }
    }
}
