import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Answers the requests of one provider connection: refusals at once, what was accepted when the core has settled it.
final class ProviderRequestHandler: ProviderRequestDelegate {
    let door: ProviderListener
    let handle: ProviderConnectionHandle
    let eventLoop: any EventLoop
    private let owner: PendingResponses
    private var session: ProviderSession
    /// Called once, with the first valid credential.
    private var onProof: (() -> Void)?
    /// Requests so far, for faults.
    var ordinal = 0
    /// A fault: nothing is answered any more.
    var isStalled = false

    init(
        door: ProviderListener,
        handle: ProviderConnectionHandle,
        session: ProviderSession,
        eventLoop: any EventLoop,
        onProof: @escaping () -> Void
    ) {
        self.door = door
        self.handle = handle
        self.session = session
        self.eventLoop = eventLoop
        self.owner = PendingResponses(handle, retryAfter: door.session.rules.retryAfter)
        self.onProof = onProof
    }

    /// What one turn of the event loop comes to.
    struct Turn {
        var submissions: [Submission] = []
        var pending: [(ticket: UInt32, answer: ProviderResponse)] = []
        var answers: [(stream: UInt32, answer: ProviderResponse)] = []
    }

    func received(_ requests: [(stream: UInt32, request: ProviderRequest)]) {
        let now = self.door.time.now
        var turn = Turn()
        turn.submissions.reserveCapacity(requests.count)
        turn.pending.reserveCapacity(requests.count)
        for (stream, request) in requests where !self.isStalled {
            let verdict = self.session.receive(request, now: now)
            self.ordinal += 1
            if let fault = self.fault(request, verdict.decision, now: now) {
                self.misbehave(fault, stream, verdict.decision, &turn)
            } else {
                self.perform(verdict.decision, stream, &turn)
            }
            if let instruction = verdict.instruction { self.perform(instruction, after: stream, &turn) }
        }
        self.finish(turn)
        if self.session.credential != nil { self.onProof.take()?() }
    }

    func cancelled(_ streams: [UInt32]) { self.owner.forget(streams) }

    func closed() { self.owner.forgetAll() }

    var credential: String? { self.session.credential }

    // MARK: Requests

    func perform(_ decision: ProviderSession.Decision, _ stream: UInt32, _ turn: inout Turn) {
        switch decision {
        case .submit(let push, let answer):
            turn.pending.append((stream, answer))
            turn.submissions.append(Submission(push: push, owner: self.owner, ticket: stream))
        case .broadcast(let broadcast, let answer):
            self.owner.expect([(stream, answer)])
            self.door.router.submit(broadcast, owner: self.owner, ticket: stream)
        case .manage(let command):
            let (channels, handle) = (self.door.channels, self.handle)
            Task { handle.answer(stream, await channels.perform(command)) }
        case .respond(let answer):
            turn.answers.append((stream, answer))
        case .reject(let refusal, let answer):
            self.note(refusal, answer)
            turn.answers.append((stream, answer))
        }
    }

    /// Hands everything on together.
    func finish(_ turn: Turn) {
        if !turn.answers.isEmpty { self.handle.answer(turn.answers) }
        guard !turn.submissions.isEmpty else { return }
        self.owner.expect(turn.pending)
        self.door.router.submit(turn.submissions)
    }

    /// What was accepted before a GOAWAY is still answered.
    private func perform(
        _ instruction: ProviderSession.Instruction,
        after stream: UInt32,
        _ turn: inout Turn
    ) {
        self.finish(turn)
        turn = Turn()
        switch instruction {
        case .announce(let limit): self.handle.announce(streamLimit: limit)
        case .goAway(let reason): self.handle.goAway(reason)
        case .endWithoutProcessing:
            self.isStalled = true
            let text = "too many provider tokens that are no good"
            self.handle.goAway(.enhanceYourCalm, debugData: text, lastStream: stream)
        }
    }

    private func note(_ refusal: ProviderRejection, _ answer: ProviderResponse) {
        let id = answer.apnsID ?? answer.requestID ?? ""
        self.door.refusals.write("request refused", refusal.reason, id: id, rule: refusal.rule.map { "\($0)" })
        if let recipient = refusal.recipient {
            self.door.router.rejectedTooMany(device: recipient.device, topic: recipient.topic, apnsID: id)
        }
        if let token = refusal.token { self.door.router.rejected(token, apnsID: id) }
    }
}

/// The answers of one connection that wait for the core.
final class PendingResponses: SubmissionDelegate {
    private let handle: ProviderConnectionHandle
    /// In answers 429.
    private let retryAfter: Int?
    private let answers = Mutex<[UInt32: ProviderResponse]>([:])

    init(_ handle: ProviderConnectionHandle, retryAfter: Int?) {
        self.handle = handle
        self.retryAfter = retryAfter
    }

    func expect(_ answers: [(ticket: UInt32, answer: ProviderResponse)]) {
        self.answers.withLock { pending in for (ticket, answer) in answers { pending[ticket] = answer } }
    }

    func settled(_ settlements: [SubmissionResult]) {
        let answers = self.answers.withLock { pending in
            settlements.compactMap { settlement -> (stream: UInt32, answer: ProviderResponse)? in
                guard let answer = pending.removeValue(forKey: settlement.ticket) else { return nil }
                return (settlement.ticket, settlement.rejection.map { self.refusal($0, of: answer) } ?? answer)
            }
        }
        self.handle.answer(answers)
    }

    private func refusal(_ reason: Reason, of answer: ProviderResponse) -> ProviderResponse {
        var refusal = ProviderSession.rejection(reason, of: answer)
        if reason.status == 429 { refusal.retryAfter = self.retryAfter }
        return refusal
    }

    func forget(_ tickets: [UInt32]) {
        self.answers.withLock { pending in for ticket in tickets { pending[ticket] = nil } }
    }

    func forgetAll() { self.answers.withLock { $0 = [:] } }
}
