import ProviderModel
import Testing

@testable import PushProvider

/// What publishers' servers answer, in both forms.
@Suite struct PublisherResponseTests {
    private func answer(
        _ body: String,
        status: Int = 200,
        _ form: EntitlementServerRecord.Form
    ) -> Result<PublisherResponse, PublisherFailure> {
        do throws(PublisherFailure) {
            return .success(try PublisherResponse(status: status, body: Array(body.utf8), form: form))
        } catch {
            return .failure(error)
        }
    }

    private static func result(_ inner: String, code: String = "200") -> String {
        #"<?xml version="1.0" encoding="UTF-8"?><result httpResponseCode="\#(code)">\#(inner)</result>"#
    }

    @Test func jsonNamesTheProducts() {
        #expect(self.answer(#"{"entitled":["a","b","a"],"more":1}"#, .json) == .success(.entitled(["a", "b"])))
        #expect(self.answer(#"{"entitled":[]}"#, .json) == .success(.entitled([])))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"entitled":"a"}"#, #"{"entitled":[1]}"#, #"{"entitled":[""]}"#, #"{"entitled":null}"#,
        #"{"entitled":["\#(String(repeating: "p", count: 257))"]}"#, "<result/>",
    ])
    func otherJSONIsAFailure(body: String) {
        guard case .failure(.malformed) = self.answer(body, .json) else {
            Issue.record("accepted: \(body)")
            return
        }
    }

    @Test func xmlNamesTheProducts() {
        let text = Self.result(
            "<note>x</note><entitlements><productId> a.b </productId><productId subscriberId='1'>c&amp;d</productId>"
                + "<other><productId>no</productId></other></entitlements><productId>no</productId>"
        )
        #expect(self.answer(text, .xml) == .success(.entitled(["a.b", "c&d"])))
        #expect(self.answer(Self.result("<entitlements/>"), .xml) == .success(.entitled([])))
        #expect(self.answer("<result><entitlements/></result>", .xml) == .success(.entitled([])))
    }

    @Test(arguments: ["401", "403"]) func theServerRefusesAnAccount(code: String) {
        #expect(self.answer(Self.result("", code: code), .xml) == .success(.accountRefused))
        #expect(self.answer("", status: Int(code) ?? 0, .xml) == .success(.accountRefused))
        #expect(self.answer("", status: Int(code) ?? 0, .json) == .success(.accountRefused))
    }

    /// A question that is refused says nothing about the server: else an app could make it count as down.
    @Test(arguments: [400, 404, 413, 414, 431]) func aRefusedQuestionEntitlesToNothing(status: Int) {
        #expect(self.answer("", status: status, .json) == .success(.questionRefused(status: status)))
        #expect(self.answer("", status: status, .xml) == .success(.questionRefused(status: status)))
        #expect(self.answer(Self.result("", code: "\(status)"), .xml) == .success(.questionRefused(status: status)))
    }

    @Test(arguments: [302, 408, 425, 429, 500, 503, 204, 206]) func anotherStatusIsAFailure(status: Int) {
        #expect(self.answer(#"{"entitled":["a"]}"#, status: status, .json) == .failure(.status(status)))
        let text = Self.result("<entitlements><productId>a</productId></entitlements>", code: "\(status)")
        #expect(self.answer(text, .xml) == .failure(.status(status)))
    }

    @Test(arguments: [
        "", "<html><body>down for maintenance</body></html>", "<result httpResponseCode='200'/>",
        "<result httpResponseCode='yes'><entitlements/></result>",
        "<result httpResponseCode='0'><entitlements/></result>",
        "<result><entitlements><productId/></entitlements></result>",
        "<result><entitlements><productId>a<b/></productId></entitlements></result>",
        "<result><entitlements><productId>a</productId></entitlements>", #"{"entitled":["a"]}"#,
        "<result><more><entitlements><productId>a</productId></entitlements></more></result>",
    ])
    func otherXMLIsAFailure(body: String) {
        guard case .failure(.malformed) = self.answer(body, .xml) else {
            Issue.record("accepted: \(body)")
            return
        }
    }
}
