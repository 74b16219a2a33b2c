import Foundation
import MartletKit
import Testing

@Suite("Settings of an app") struct ConfigurationTests {
    @Test(
        "TLS is left out on this computer only",
        arguments: [
            ("https://push.example.com", true), ("https://push.example.com:8443/base", true),
            ("http://127.0.0.1:8080", true),
            ("http://localhost:8080", true), ("http://[::1]:8080", true), ("http://push.example.com", false),
            ("http://127.0.0.1.example.com", false), ("http://localhost.example.com", false),
            ("ftp://localhost", false),
            ("push.example.com", false), ("https://", false), ("file:///etc/passwd", false), ("http://127.1", false),
        ]
    )
    func providers(text: String, isAccepted: Bool) throws {
        let url = try #require(URL(string: text))
        let configuration = try? Martlet.Configuration(provider: url, app: "com.example.App", key: "mk_public_x")
        #expect((configuration != nil) == isAccepted)
    }

    @Test(
        "A key that is not public is refused, and an app that is none",
        arguments: ["mk_secret", "", "mk_public_\n", "Bearer x"]
    )
    func keys(key: String) throws {
        let url = try #require(URL(string: "https://push.example.com"))
        #expect(throws: Martlet.ConfigurationError.notPublicKey) {
            try Martlet.Configuration(provider: url, app: "com.example.App", key: key)
        }
        for app in ["", "a/../b", "a b", "é", String(repeating: "a", count: 256)] {
            #expect(throws: Martlet.ConfigurationError.invalidApp) {
                try Martlet.Configuration(provider: url, app: app, key: "mk_public_x")
            }
        }
    }

    @Test(
        "Quiet hours have two times of day",
        arguments: ["24:00", "7:00", "07:60", "0700", "", "07:00:00", "-1:00", "+1:00", "aa:bb"]
    )
    func quietHours(text: String) {
        #expect(NotificationPreferences.QuietHours(from: text, to: "07:00") == nil)
        #expect(NotificationPreferences.QuietHours(from: "22:00", to: text) == nil)
        #expect(NotificationPreferences.QuietHours(from: "00:00", to: "23:59") != nil)
        #expect(NotificationPreferences.QuietHours(from: "22:00", to: "22:00") == nil)
    }
}
