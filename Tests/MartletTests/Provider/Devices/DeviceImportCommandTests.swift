import Foundation
import PushSupport
import PushTesting
import Testing

@testable import martlet

@Suite(.timeLimit(.patience)) struct DeviceImportCommandTests {
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

    @Test func aListOfAnotherServerIsImported() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/installations.json"
            let record = #"{"deviceType":"ios","deviceToken":"\#(Vectors.tokenA)","channels":["news"]}"#
            try #"{"results":[\#(record)]}"#.write(toFile: file, atomically: true, encoding: .utf8)
            try await withProvider(senders: ScriptedSender()) { provider in
                try await provider.addVectorsApp()
                let app = Vectors.bundleID
                let arguments = ["--format", "parse", "--environment", "sandbox", "--app", app]
                let report = try await provider.martlet(["device", "import", file] + arguments)
                #expect(report.contains("added 1"))
                let devices = try await provider.api.get("/v1/apps/\(app)/devices").json["devices"].elements
                #expect(devices.map { $0["environment"].stringValue } == ["sandbox"])
                #expect(devices.map { $0["tags"] } == [.array([.string("news")])])
                let unknown = try await provider.api.call(
                    "POST",
                    "/v1/apps/\(app)/devices:import?from=other",
                    Data(),
                    headers: ["content-type": "text/csv"]
                )
                #expect(unknown.status == 400)
                let json = ["content-type": "application/json"]
                let own = try await provider.api.call("POST", "/v1/apps/\(app)/devices:import", Data(), headers: json)
                #expect(own.status == 415, "our own records are lines")
            }
        }
    }

    @Test(arguments: [
        (DeviceImportFormat.parse, "a.json", "application/json"), (.parse, "a.ndjson", "application/x-ndjson"),
        (.aerogear, "a", "application/json"), (.onesignal, "a.txt", "text/csv"),
        (.gorush, "a.json", "application/json"),
        (.gorush, "-", "text/csv"), (.csv, "a.ndjson", "text/csv"),
    ])
    func aListHasTheTypeThatItsServerWrites(format: DeviceImportFormat, file: String, type: String) {
        #expect(format.contentType(ofFile: file) == type)
    }

    @Test func anImportReportHasCountsAndRejectedLines() throws {
        let json = #"{"lines":3,"added":1,"refused":1,"refusals":[{"line":2,"code":"invalid_token","message":"bad"}]}"#
        let report = ImportReportText(try JSONValue(parsing: Data(json.utf8)))
        #expect(report.hasRejections)
        #expect(report.text.contains("2     invalid_token"))
        #expect(report.text.hasSuffix("added 1, lines 3, refused 1"))
        #expect(
            !ImportReportText(try JSONValue(parsing: Data(#"{"lines":1,"refused":0,"refusals":[]}"#.utf8)))
                .hasRejections
        )
    }

    @Test(arguments: [
        ("a.ndjson", DeviceFileFormat.ndjson), ("a.JSONL", .ndjson), ("b.csv", .csv), ("c.txt", nil), ("-", nil),
    ])
    func theExtensionOfAFileIsItsFormat(name: String, format: DeviceFileFormat?) {
        #expect(DeviceFileFormat(fileName: name) == format)
    }
}
