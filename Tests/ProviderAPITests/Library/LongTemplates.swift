import Foundation
import PushSupport
import PushTesting
import PushTypes

/// Templates that are nearly as long as they may be.
enum LongTemplates {
    static let path = "/v1/apps/\(Vectors.bundleID)/templates"

    /// A content of 65,000 bytes, with payloads of nearly 4 kB each.
    static let content: JSONValue = {
        let locales = ["cs", "da", "de", "el", "es", "et", "fi", "fr", "hr", "hu", "it", "nl", "pl", "pt", "ro", "sv"]
        let body: JSONValue = ["body": .string(String(repeating: "x", count: 4040))]
        let localizations = Dictionary(uniqueKeysWithValues: locales.map { ($0, body) })
        return ["alert": ["title": "Hello", "body": "Hello"], "localizations": .object(localizations)]
    }()

    /// A body that saves a template, whose response is longer than 64 KiB.
    static let saved: JSONValue = [
        "content": Self.content, "description": .string(String(repeating: "d", count: 1000)),
    ]
}

extension RunningProvider {
    /// Adds templates that are called `t0`, `t1` and so on.
    func addLongTemplates(_ count: Int) async throws {
        for number in 0..<count { try await self.api.put("\(LongTemplates.path)/t\(number)", LongTemplates.saved) }
    }
}
