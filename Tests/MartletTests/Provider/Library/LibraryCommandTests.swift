import Foundation
import PushTesting
import Testing

@testable import martlet

/// The commands for named audiences and templates, against a running provider.
@Suite(.timeLimit(.patience)) struct LibraryCommandTests {
    private let app = Vectors.bundleID

    @Test func anAudienceIsSavedCountedShownRestoredAndRemoved() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["tags": ["beta"]])
            let name = "beta testers"
            let saved = try await provider.martlet("audience", "save", name, "--tag", "beta", "--app", app)
            #expect(saved.contains(name) && saved.contains("tag beta"))
            #expect(try await provider.martlet("audience", "count", "--named", name, "--app", app) == "1")
            try await provider.martlet("audience", "save", name, "--tag", "b", "--description", "x", "--app", app)
            #expect(try await provider.martlet("audience", "list", "--app", app).contains("first admin key"))
            let restored = try await provider.martlet(
                "audience",
                "restore",
                name,
                "--to-version",
                "1",
                "--app",
                app
            )
            #expect(restored.contains("tag beta"))
            let versions = try await provider.martlet("audience", "versions", name, "--app", app)
            #expect(versions.split(separator: "\n").count == 4)
            try await provider.martlet("audience", "remove", name, "--app", app)
            #expect(try await provider.martlet("audience", "list", "--app", app) == "(none)")
        }
    }

    @Test func aTemplateIsSavedFromAFileAndPreviewed() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/welcome.json"
            let text = #"{"alert":"Code {{code}}","template":true}"#
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            try await withProvider(senders: ScriptedSender()) { provider in
                try await provider.addVectorsApp()
                try await provider.martlet("template", "save", "welcome", file, "--app", app)
                let preview = try await provider.martlet(
                    "template",
                    "preview",
                    "welcome",
                    "--variable",
                    "code=42",
                    "--app",
                    app
                )
                #expect(preview.contains("Code 42"))
                #expect(try await provider.martlet("template", "show", "welcome", "--app", app).contains("{{code}}"))
                try await provider.martlet("template", "remove", "welcome", "--app", app)
                #expect(try await provider.martlet("template", "list", "--app", app) == "(none)")
            }
        }
    }
}
