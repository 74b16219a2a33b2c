import PushSupport
import PushTesting
import Testing

@testable import martlet

/// What the commands say after a stop (docs/decisions/0051).
@Suite(.timeLimit(.patience)) struct StopCommandTests {
    /// One push is in flight while all is stopped.
    @Test func aStopSaysWhatIsUnderWay() async throws {
        let (sender, gate, app) = (ScriptedSender(), Gate(), Vectors.bundleID)
        sender.onSend { _ in await gate.pass() }
        try await withProvider(senders: sender) { provider in
            defer { gate.open() }
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi", "environment": "sandbox"])
            let id = try #require(sent.json["id"].stringValue)
            try await eventually { !sender.sent.isEmpty }
            for words in [
                ["user", "preferences", "alice", "--opt-out", "a", "--app", app],
                ["device", "add", Vectors.tokenA, "--environment", "sandbox", "--opt-out", "a", "--app", app],
                ["notification", "pause", id], ["notification", "cancel", id],
                ["app", "pause", app], ["credential", "remove", "sandbox", "--app", app],
            ] {
                let text = try await provider.martlet(words)
                #expect(text.hasSuffix("one push is still under way"), "\(words): \(text)")
            }
        }
    }

    @Test func severalAreCounted() {
        #expect(
            NotificationCommand.Cancel.text(of: ["state": "cancelled", "underWay": 3])
                == "cancelled; 3 pushes are still under way"
        )
        #expect(NotificationCommand.Pause.text(of: ["state": "paused", "underWay": 0]) == "paused")
        let withdrawn = IssueCommand.Withdraw.text(of: ["state": "withdrawn", "underWay": 3])
        #expect(withdrawn.contains("withdrawn") && withdrawn.hasSuffix("\n3 pushes are still under way"))
    }
}
