import ProviderModel
import PushSender
import PushTypes
import Testing

@testable import PushProvider

/// The conclusions from the one push of a test, for the environment that is paused.
@Suite struct CredentialTestTests {
    private let refused = ConfigurationFault(.refused, detail: "connection refused", host: "a", port: 1)
    private let rejected = ConfigurationFault(.credentialRejected, detail: "InvalidProviderToken", host: "a", port: 1)
    private let noService = ConfigurationFault(.wrongProtocol, detail: "HTTP status 404", host: "a", port: 1)

    private func test(_ status: Int, _ reason: String = "") -> CredentialTestResult {
        let outcome = Outcome.rejected(Rejection(status: status, reasonText: reason))
        return CredentialTestResult(PushServiceEndpoint(host: "a", port: 1), outcome, expires: nil)
    }

    @Test func aRejectedTokenProvesConnectionAndCredential() {
        let test = self.test(400, "BadDeviceToken")
        #expect(test.isProven)
        for fault in [self.refused, self.rejected, self.noService] { #expect(test.ends(fault)) }
    }

    @Test func aBusyPushServiceProvesTheConnection() {
        let test = self.test(503, "ServiceUnavailable")
        #expect(!test.isProven)
        #expect(test.ends(self.refused))
        #expect(!test.ends(self.rejected))
    }

    @Test func aRejectedCredentialReplacesTheFaultOfTheConnection() {
        let test = self.test(403, "InvalidProviderToken")
        #expect(test.fault?.cause == .credentialRejected)
        #expect(!test.ends(self.refused))
    }

    /// A server that knows only some tokens answers 404 to that of the test.
    @Test func aServerThatDoesNotKnowTheTokenCanBeConnectedToAgain() {
        let test = self.test(404)
        #expect(!test.isProven)
        #expect(test.ends(self.refused))
        #expect(!test.ends(self.rejected))
        #expect(!test.ends(self.noService))
        #expect(test.fault?.description == "a:1 is no push service: HTTP status 404")
    }

    @Test func aServerThatSpeaksNoTLSEndsNothing() {
        let fault = ConnectionFault(.wrongProtocol, host: "a", port: 1)
        let outcome = Outcome.notSent(Outcome.Failure("TLS: the server does not speak TLS on this port", fault: fault))
        let test = CredentialTestResult(PushServiceEndpoint(host: "a", port: 1), outcome, expires: nil)
        #expect(test.isTrusted == false)
        #expect(!test.ends(self.refused))
    }
}
