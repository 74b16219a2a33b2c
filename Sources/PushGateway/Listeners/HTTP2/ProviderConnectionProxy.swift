import NIOCore
import PushTypes
import PushWire
import Synchronization

/// A connection that performs the commands of a ``ProviderConnectionProxy`` on its event loop.
protocol ProviderCommandHandler: AnyObject {
    /// A Boolean value that indicates whether the connection is handling events. All output is written once they are
    /// handled.
    var isWorking: Bool { get }

    func perform(_ command: ProviderConnectionProxy.Command)
    func respond(_ responses: [(stream: UInt32, response: ProviderResponse)])
    /// Performs the commands in the mailbox, then writes the output.
    func work()
}

/// Calls a provider connection from any thread, and keeps responses until the router has settled their pushes.
///
/// Inside ``ProviderRequestDelegate/receive(_:)`` a command takes effect immediately and is sent with the write that
/// follows. Everywhere else it is added to a mailbox, which one task of the event loop empties, so that thousands of
/// responses in a millisecond cost one wake-up. After the connection has closed, commands have no effect.
final class ProviderConnectionProxy: Sendable {
    enum Command: Sendable {
        case respond(UInt32, ProviderResponse)
        case reset(UInt32, HTTP2ErrorCode)
        case announce(streamLimit: Int)
        case goAway(HTTP2ErrorCode, debugData: String, lastStream: UInt32?)
        case stall, close
    }

    private struct State {
        /// The connection, or `nil` once it is closed.
        var connection: NIOLoopBound<any ProviderCommandHandler>?
        var commands: [Command] = []
        var isScheduled = false
        /// The responses to send once the router has accepted or rejected their pushes, by stream id.
        var pending: [UInt32: ProviderResponse] = [:]
    }

    let eventLoop: any EventLoop
    /// The value of `retry-after` in responses with status 429, in seconds, or `nil` to omit the field.
    private let retryAfter: Int?
    private let state: Mutex<State>

    /// Creates the proxy of a connection. This method must be called on the event loop.
    init(_ connection: any ProviderCommandHandler, eventLoop: any EventLoop, retryAfter: Int?) {
        (self.eventLoop, self.retryAfter) = (eventLoop, retryAfter)
        self.state = Mutex(State(connection: NIOLoopBound(connection, eventLoop: eventLoop)))
    }

    var isClosed: Bool { self.state.withLock { $0.connection == nil } }

    // MARK: Commands

    /// Sends responses to requests. Responses on streams that were cancelled are dropped.
    func respond(_ responses: [(stream: UInt32, response: ProviderResponse)]) {
        if let connection = self.workingConnection { return connection.respond(responses) }
        self.post { commands in
            for (stream, response) in responses { commands.append(.respond(stream, response)) }
        }
    }

    func respond(_ stream: UInt32, _ response: ProviderResponse) { self.perform(.respond(stream, response)) }

    func reset(_ stream: UInt32, _ code: HTTP2ErrorCode) { self.perform(.reset(stream, code)) }

    /// Announces another limit of concurrent streams, higher or lower (reference 1.3).
    func announce(streamLimit: Int) { self.perform(.announce(streamLimit: streamLimit)) }

    /// Sends GOAWAY immediately. Streams above `lastStream` are cancelled. The others receive their responses before
    /// the connection closes.
    /// - Parameters:
    ///   - debugData: JSON with a `reason`, or plain text.
    ///   - lastStream: The highest stream that is still processed, or `nil` for the highest that the client has opened.
    func goAway(_ code: HTTP2ErrorCode, debugData: String, lastStream: UInt32? = nil) {
        self.perform(.goAway(code, debugData: debugData, lastStream: lastStream))
    }

    /// Sends GOAWAY with a JSON object that contains the reason, as Apple does. `lastStream` has the same meaning as in
    /// ``goAway(_:debugData:lastStream:)``.
    func goAway(_ reason: Reason, lastStream: UInt32? = nil) {
        self.goAway(.noError, debugData: #"{"reason":"\#(reason.text)"}"#, lastStream: lastStream)
    }

    /// Stops reading and writing and leaves the connection open, as a fault requires.
    func stall() { self.perform(.stall) }

    func close() { self.perform(.close) }

    // MARK: Pending responses

    /// Keeps responses, by stream id, until the router has accepted or rejected their pushes.
    func expect(_ responses: [(stream: UInt32, response: ProviderResponse)]) {
        self.state.withLock { state in
            for (stream, response) in responses { state.pending[stream] = response }
        }
    }

    func forget(_ streams: [UInt32]) {
        self.state.withLock { state in for stream in streams { state.pending[stream] = nil } }
    }

    // MARK: Called by the connection

    func takeCommands() -> [Command] {
        self.state.withLock { state in
            state.isScheduled = false
            var commands: [Command] = []
            swap(&commands, &state.commands)
            return commands
        }
    }

    func connectionClosed() {
        self.state.withLock { state in
            state.connection = nil
            state.commands = []
            state.pending = [:]
        }
    }

    // MARK: Mailbox

    private func perform(_ command: Command) {
        if let connection = self.workingConnection { return connection.perform(command) }
        self.post { $0.append(command) }
    }

    /// The connection if it is handling events on the current event loop, or `nil` if it is not. Commands in the
    /// mailbox are performed first.
    private var workingConnection: (any ProviderCommandHandler)? {
        guard self.eventLoop.inEventLoop else { return nil }
        let (bound, hasCommands) = self.state.withLock { ($0.connection, !$0.commands.isEmpty) }
        guard let connection = bound?.value, connection.isWorking else { return nil }
        if hasCommands { for command in self.takeCommands() { connection.perform(command) } }
        return connection
    }

    private func post(_ add: (inout [Command]) -> Void) {
        let bound = self.state.withLock { state -> NIOLoopBound<any ProviderCommandHandler>? in
            guard let connection = state.connection else { return nil }
            add(&state.commands)
            defer { state.isScheduled = true }
            return state.isScheduled ? nil : connection
        }
        guard let bound else { return }
        self.eventLoop.execute { bound.value.work() }
    }
}

extension ProviderConnectionProxy: SubmissionDelegate {
    func settled(_ settlements: [SubmissionResult]) {
        let responses = self.state.withLock { state in
            settlements.compactMap { settlement -> (stream: UInt32, response: ProviderResponse)? in
                guard let response = state.pending.removeValue(forKey: settlement.ticket) else { return nil }
                return (settlement.ticket, settlement.rejection.map { self.rejection($0, of: response) } ?? response)
            }
        }
        self.respond(responses)
    }

    private func rejection(_ reason: Reason, of response: ProviderResponse) -> ProviderResponse {
        var rejection = ProviderSession.rejection(reason, of: response)
        if reason.status == 429 { rejection.retryAfter = self.retryAfter }
        return rejection
    }
}
