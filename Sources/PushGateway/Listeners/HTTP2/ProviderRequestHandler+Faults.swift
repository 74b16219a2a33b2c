import Logging
import NIOCore
import PushTypes
import PushWire

/// Misbehaviour on command.
extension ProviderRequestHandler {
    /// What to do wrong with a request.
    func fault(
        _ request: ProviderRequest,
        _ decision: ProviderSession.Decision,
        now: Timestamp
    ) -> FaultDecision? {
        var random = SystemRandomNumberGenerator()
        return self.door.faults.decide(
            at: .request,
            for: self.subject(request, decision),
            random: &random,
            now: now
        )
    }

    private func subject(_ request: ProviderRequest, _ decision: ProviderSession.Decision) -> FaultSubject {
        var subject = FaultSubject(
            listener: .http2,
            environment: self.door.environment,
            topic: request.fields.topic.flatMap { Topic($0) },
            credential: self.credential,
            ordinal: self.ordinal
        )
        switch decision {
        case .submit(let push, _): (subject.topic, subject.token) = (push.notification.topic, push.token)
        case .broadcast(let broadcast, _): subject.topic = broadcast.bundleID
        case .manage(let command): subject.topic = command.bundleID
        case .respond, .reject: break
        }
        return subject
    }

    func misbehave(
        _ fault: FaultDecision,
        _ stream: UInt32,
        _ decision: ProviderSession.Decision,
        _ turn: inout Turn
    ) {
        self.door.logger.info("fault", metadata: ["rules": "\(fault.rules.joined(separator: ", "))"])
        if let limit = fault.streamLimit { self.handle.announce(streamLimit: limit) }
        switch fault.connection {
        case .close:
            self.isStalled = true
            return self.handle.close()
        case .stall:
            self.isStalled = true
            return self.handle.stall()
        case .goAway(let goAway):
            self.finish(turn)
            turn = Turn()
            self.goAway(goAway, before: stream)
            guard goAway.finishesStreams else {
                self.isStalled = true
                return
            }
        case nil: break
        }
        switch fault.response {
        case .reject(let reason, let retryAfter):
            return turn.answers.append((stream, Self.refusal(reason, retryAfter, in: decision)))
        case .reset(let code):
            return self.handle.reset(stream, HTTP2ErrorCode(rawValue: code.value) ?? .internalError)
        case .drop, nil: break
        }
        switch fault.before {
        case .stall: return
        case .wait(let time):
            // The delayed turn is one of its own, as everything else goes on meanwhile.
            self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
                var turn = Turn()
                self.perform(decision, stream, &turn)
                self.finish(turn)
            }
        case nil: self.perform(decision, stream, &turn)
        }
    }

    private func goAway(_ goAway: FaultAction.GoAway, before stream: UInt32) {
        let code = HTTP2ErrorCode(rawValue: goAway.code.value) ?? .noError
        let text = goAway.text.map { #"{"reason":"\#($0)"}"# } ?? ""
        // Without this request and those that follow: they have not been processed.
        let last = stream > 2 ? stream - 2 : 0
        self.handle.goAway(code, debugData: text, lastStream: goAway.finishesStreams ? nil : last)
    }

    /// In the place of the right answer, with the ids that it would have had.
    private static func refusal(
        _ reason: Reason,
        _ retryAfter: Int?,
        in decision: ProviderSession.Decision
    ) -> ProviderResponse {
        let right: ProviderResponse? =
            switch decision {
            case .submit(_, let answer), .broadcast(_, let answer), .respond(let answer), .reject(_, let answer): answer
            case .manage: nil
            }
        var answer =
            right?.requestID.map { ProviderResponse.refused(reason, requestID: $0) }
            ?? .refused(reason, apnsID: right?.apnsID ?? "")
        if case .manage(let command) = decision { answer = .refused(reason, requestID: command.requestID) }
        answer.retryAfter = retryAfter
        return answer
    }
}
