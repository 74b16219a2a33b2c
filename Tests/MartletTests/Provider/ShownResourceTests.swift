import PushSupport
import PushTesting
import Testing

@testable import martlet

/// Single resources as text.
@Suite struct ShownResourceTests {
    @Test func anAppShowsItsCapAndWhatInstallationsWrite() {
        let text = AppCommand.App.details([
            "bundleId": "com.example.App", "receipts": "counts", "cap": ["count": 3, "window": "24h"],
            "installationTags": ["news.*", "beta"], "installationAttributes": ["team"],
        ])
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "bundle id com.example.App", "receipts counts", "cap 3 in 24h",
                "tags that installations write news.*, beta", "attributes that installations write team",
            ]
        )
        #expect(!AppCommand.App.details(["bundleId": "com.example.App"]).contains("cap"))
    }

    @Test func aDeviceShowsItsPreferencesAndNoKey() {
        let token = String(repeating: "ab", count: 32)
        let text = RegisteredDevice.details([
            "devices": [
                [
                    "token": .string(token), "capabilities": ["alert", "badge"],
                    "preferences": ["optOuts": ["a", "b"], "quietHours": ["from": "22:00", "to": "07:00"]],
                    "encryptionKey": ["id": "k1", "key": "c2VjcmV0"],
                ], ["token": "00ff"],
            ]
        ])
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "token abababab… (32 bytes)", "capabilities alert, badge", "opt-outs a, b",
                "quiet hours 22:00 to 07:00", "encryption key yes, k1", "token 00ff… (2 bytes)", "encryption key none",
            ]
        )
        #expect(!text.contains(token) && !text.contains("c2VjcmV0"))
    }

    @Test func aNotificationShowsWhyRecipientsWereSkipped() {
        let text = ProviderNotification.details([
            "id": "n", "counters": ["skipped": 5],
            "skipped": [
                ["reason": "opted out of a\u{1b}", "count": 3], ["reason": "quiet hours of the user", "count": 2],
            ],
        ])
        #expect(text.hasSuffix("\n  3 skipped: opted out of a�\n  2 skipped: quiet hours of the user"))
    }
}
