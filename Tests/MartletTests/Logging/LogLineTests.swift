import Logging
import Testing

@testable import martlet

@Suite struct LogLineTests {
    @Test func textFromOutsideAddsNoLine() {
        let line = LogLine(
            time: "T",
            level: .error,
            label: "provider",
            metadata: [
                "path": "/v1/x\n2026-01-01 info provider: all is well",
                "user": "a\r\u{1B}[2Jb\u{85}c\u{2028}d\u{202E}e\t",
            ],
            message: "first\nsecond"
        ).text
        let expected =
            #"T error provider: path=/v1/x\n2026-01-01 info provider: all is well "#
            + #"user=a\r\u{1B}[2Jb\u{85}c\u{2028}d\u{202E}e\t first\nsecond"#
        #expect(line == expected)
        let plain = LogLine(time: "T", level: .info, label: "p", metadata: [:], message: "Grüße 🐦 日本")
        #expect(plain.text == "T info p: Grüße 🐦 日本")
        #expect(plain.json == #"{"label":"p","level":"info","message":"Grüße 🐦 日本","time":"T"}"#)
    }
}
