import PushWire
import Testing

@testable import PushSender

/// The outcomes of the statuses of APNs reference 5.2.
@Suite struct OutcomeBinaryTests {
    @Test(arguments: [
        (BinaryStatus.missingDeviceToken, 400, "MissingDeviceToken"), (.missingPayload, 400, "PayloadEmpty"),
        (.invalidTopicSize, 400, "BadTopic"), (.processingError, 500, "InternalServerError"),
        (.missingTopic, 400, "MissingTopic"), (.invalidTokenSize, 400, "BadDeviceToken"),
        (.invalidPayloadSize, 413, "PayloadTooLarge"), (.invalidToken, 400, "BadDeviceToken"),
        // HTTP/2 has no such reason.
        (.protocolError, 400, "protocol error"), (.unknown, 400, "unknown"),
        (BinaryStatus(rawValue: 9), 400, "status 9"),
    ])
    func aStatusBecomesTheReasonOfTheSameConsequenceOrKeepsItsWords(status: BinaryStatus, code: Int, text: String) {
        #expect(Rejection(status) == Rejection(status: code, reasonText: text))
    }

    @Test func onlyTheServicesOwnFaultIsWorthAnotherTryAndTheCertificatesNeedsAHand() {
        #expect(Rejection(BinaryStatus.processingError).advice == .retry(after: nil))
        #expect(Rejection(BinaryStatus.invalidToken).advice == .suspectToken)
        #expect(Rejection(BinaryStatus.missingTopic).advice == .fixConfiguration)
        #expect(Rejection(BinaryStatus.invalidTopicSize).advice == .fixConfiguration)
    }

    @Test func aFailureSaysWhyTheLastConnectionCameToNothing() {
        let outcome = Outcome(.notSent(.timedOut), id: "1", lastFailure: "connection refused")
        #expect(outcome == .notSent(.init("no connection took the notification in time: connection refused")))
    }
}
