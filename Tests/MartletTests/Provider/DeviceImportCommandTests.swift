import Foundation
import PushSupport
import PushTesting
import Testing

@testable import martlet

@Suite(.timeLimit(.minutes(5))) struct DeviceImportCommandTests {
    @Test func devicesComeFromAFileAndGoToOne() async throws {
        try await withTemporaryDirectory { directory in
            let (file, copy) = ("\(directory)/devices.ndjson", "\(directory)/copy.csv")
            let lines = [
                #"{"token":"\#(Vectors.tokenA)","environment":"sandbox","user":"alice"}"#, #"{"token":"nonsense!"}"#,
                #"{"token":"\#(Vectors.tokenC)","user":"bob","tags":["beta"]}"#,
            ]
            try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
            try await withProvider(senders: ScriptedSender()) { provider in
                try await provider.addVectorsApp()
                let app = Vectors.bundleID
                // One line was refused, so the command fails; the others are there.
                #expect(await failure { try await provider.martlet("device", "import", file, "--app", app) } != nil)
                #expect(try await provider.martlet("audience", "count", "--all", "--app", app) == "2")
                try await provider.martlet("device", "export", "--app", app, "--output", copy)
                let again = try await provider.martlet("device", "import", copy, "--app", app)
                #expect(again.contains("added 0") && again.contains("refreshed 2") && again.contains("refused 0"))
            }
        }
    }

    @Test func anImportReportHasCountsAndRejectedLines() throws {
        let json = #"{"lines":3,"added":1,"refused":1,"refusals":[{"line":2,"code":"invalid_token","message":"bad"}]}"#
        let report = ImportReport(try JSONValue(parsing: Data(json.utf8)))
        #expect(report.hasRejections)
        #expect(report.text.contains("2     invalid_token"))
        #expect(report.text.hasSuffix("added 1, lines 3, refused 1"))
        #expect(
            !ImportReport(try JSONValue(parsing: Data(#"{"lines":1,"refused":0,"refusals":[]}"#.utf8))).hasRejections
        )
    }

    @Test(arguments: [
        ("a.ndjson", DeviceFileFormat.ndjson), ("a.JSONL", .ndjson), ("b.csv", .csv), ("c.txt", nil), ("-", nil),
    ])
    func theExtensionOfAFileIsItsFormat(name: String, format: DeviceFileFormat?) {
        #expect(DeviceFileFormat(fileName: name) == format)
    }
}
