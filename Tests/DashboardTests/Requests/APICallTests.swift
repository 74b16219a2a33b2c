import PushSupport
import PushTesting
import Testing

@testable import Dashboard

@Suite struct APICallTests {
    @Test(arguments: ["privateKey", "p12", "certificate", "passphrase", "password", "current", "secret"])
    func theCommandLineHasNoSecret(_ name: String) {
        let body: JSONValue = .object([name: "hidden 'text'", "name": "shown"])
        let line = LocalAPIRequest.put("/v1/things", body).curl(origin: "https://push.example.com")
        #expect(!line.contains("hidden") && line.contains("shown") && line.contains("\"\(name)\":\"…\""))
    }

    @Test func theDataOfANotificationIsShownAsItIs() {
        let call = LocalAPIRequest.post("/v1/apps/a/notifications", ["data": ["current": 5]])
        #expect(call.curl(origin: "http://localhost").contains(#"{"data":{"current":5}}"#))
    }
}
