import Foundation
import Logging
import PushProtocol

/// Answers the requests of one provider connection: refusals at once, accepted pushes when the core has settled them.
final class ProviderReceiver: ProviderRequestReceiver {
    private let door: ProviderDoor
    private let owner: Owner
    private var connection = ProviderConnection()

    /// What the core knows of this connection.
    private final class Owner: SubmissionOwner {
        private let handle: ProviderConnectionHandle
        private let isSandbox: Bool

        init(_ handle: ProviderConnectionHandle, _ environment: PushEnvironment) {
            self.handle = handle
            self.isSandbox = environment == .sandbox
        }

        func settled(_ settlements: [Settlement]) {
            self.answer(settlements.map { ($0.ticket, self.answer(to: $0)) })
        }

        func answer(_ answers: [(stream: UInt32, answer: ProviderAnswer)]) { self.handle.answer(answers) }

        private func answer(to settlement: Settlement) -> ProviderAnswer {
            guard settlement.isAccepted else { return .refused(.internalServerError, apnsID: settlement.id) }
            return .accepted(apnsID: settlement.id, uniqueID: self.isSandbox ? UUID().uuidString : nil)
        }
    }

    init(door: ProviderDoor, handle: ProviderConnectionHandle) {
        self.door = door
        self.owner = Owner(handle, door.environment)
    }

    func received(_ requests: [(stream: UInt32, request: ProviderRequest)]) {
        let validator = PushRequestValidator(directory: self.door.directory, now: self.door.time.now)
        var submissions: [Submission] = []
        var refusals: [(stream: UInt32, answer: ProviderAnswer)] = []
        submissions.reserveCapacity(requests.count)
        for (stream, request) in requests {
            let apnsID = PushRequestValidator.apnsID(of: request) ?? UUID().uuidString
            do throws(PushRequestValidator.Refusal) {
                let push = try validator.validate(request, connection: &self.connection, apnsID: apnsID)
                submissions.append(Submission(push: push, owner: self.owner, ticket: stream))
            } catch {
                self.note(error, apnsID: apnsID)
                refusals.append((stream, .refused(error.reason, apnsID: apnsID, timestamp: error.timestamp)))
            }
        }
        if !refusals.isEmpty { self.owner.answer(refusals) }
        if !submissions.isEmpty { self.door.router.submit(submissions) }
    }

    func cancelled(_ streams: [UInt32]) {}

    func closed() {}

    private func note(_ refusal: PushRequestValidator.Refusal, apnsID: String) {
        self.door.logger.info("push refused", metadata: ["apns-id": "\(apnsID)", "reason": "\(refusal.reason.text)"])
        guard let gone = refusal.token, let since = refusal.timestamp else { return }
        self.door.router.refusedUnregistered(
            gone.token,
            device: gone.device,
            topic: gone.topic,
            apnsID: apnsID,
            since: since
        )
    }
}
