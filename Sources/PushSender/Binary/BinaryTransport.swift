import Logging
import PushTypes

/// The sender of a credential whose transport is ``PushTransport/binary``. It rejects notifications that the binary
/// protocol cannot carry, with the reasons of the push service. When it is deallocated, the connection is closed once
/// every push has its outcome.
final class BinaryTransport: NotificationSender {
    private let sender: BinarySender
    /// The topic that the certificate determines, or `nil` if the certificate names none.
    private let topic: Topic?

    init(
        to endpoint: PushServiceEndpoint,
        certificate: ClientCertificate,
        configuration: SenderConfiguration,
        logger: Logger
    ) throws {
        var binary = BinaryConfiguration()
        (binary.waitTimeout, binary.failsFast) = (configuration.waitTimeout, configuration.failsFast)
        self.sender = try BinarySender(to: endpoint, certificate: certificate, configuration: binary, logger: logger)
        self.topic = certificate.defaultTopic
    }

    deinit {
        let sender = self.sender
        Task { await sender.close() }
    }

    func send(_ pushes: [Push]) async -> [Outcome] { await self.follow(pushes, began: { _ in }).outcomes }

    func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes {
        let rejections = pushes.map { self.rejection(of: $0.notification) }
        let positions = rejections.indices.filter { rejections[$0] == nil }
        let rest = positions.map { pushes[$0] }
        let sent = await self.sender.follow(rest) { began(PartialCall($0, at: positions)) }
        var outcomes = sent.outcomes.makeIterator()
        return SentPushes(
            outcomes: rejections.map { rejection in
                rejection.map { .rejected($0) } ?? outcomes.next() ?? .notSent(.init("nothing was sent"))
            }
        )
    }

    func close() async { await self.sender.close() }

    /// Returns the rejection of a notification that the binary protocol cannot carry, or `nil` if it can.
    private func rejection(of notification: PushNotification) -> Rejection? {
        if let type = notification.pushType, !type.isCarriedByBinaryProtocol {
            return Rejection(status: 400, reasonText: "InvalidPushType: \(type.rawValue) needs HTTP/2")
        }
        guard let topic, topic != notification.topic else { return nil }
        return Rejection(status: Reason.topicDisallowed.status, reasonText: Reason.topicDisallowed.text)
    }
}

/// A call of which only some pushes were passed to the binary sender. The others were rejected immediately.
private final class PartialCall: PushCall {
    private let call: any PushCall
    private let positions: [Int]

    /// Creates a call from the binary sender's `call`. For the index of each push in `call`, `positions` contains the
    /// position of the push in the new call.
    init(_ call: any PushCall, at positions: [Int]) { (self.call, self.positions) = (call, positions) }

    func takeBack(where isRecalled: (Int) -> Bool) -> Int { self.call.takeBack { isRecalled(self.positions[$0]) } }
}
