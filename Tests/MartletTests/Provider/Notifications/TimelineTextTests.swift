import ArgumentParser
import Foundation
import PushSupport
import PushTesting
import Testing

@testable import martlet

/// Timelines for people.
@Suite(.timeLimit(.patience)) struct TimelineTextTests {
    @Test func theFirstLineHasTheTimeAndEachOtherTheTimeSince() throws {
        let response = try JSONValue(
            parsing: Data(
                #"""
                {"timelines":[{"kind":"delivery","notification":"N","app":"com.example.App","apnsId":"A",
                "token":"00000001… (32 bytes)","environment":"sandbox","state":"rejected","reason":"Unregistered",
                "steps":[{"atMs":1700000000000,"source":"api","event":"requested","text":"request"},
                {"atMs":1700000000012,"sinceMs":12,"source":"pushService","event":"answered","text":"410"},
                {"atMs":1700003600012,"sinceMs":3600000,"source":"provider","event":"waits","text":"later\u001b[2J"},
                {"atMs":1,"sinceMs":864000000,"source":"x","event":"y","text":"z"}],
                "notes":["no gateway"]}],"next":"abc"}
                """#.utf8
            )
        )
        #expect(
            TimelineText.of(response) == """
                delivery A; token 00000001… (32 bytes); app com.example.App, sandbox; notification N; rejected: Unregistered
                2023-11-14T22:13:20.000Z  api           request
                                +0.012 s  push service  410
                              +1 h 0 min  provider      later�[2J
                               +10 d 0 h  x             z
                note: no gateway

                more: --cursor abc
                """
        )
    }

    @Test(arguments: ["{}", #"{"timelines":[]}"#, #"{"timelines":7}"#, #"{"timelines":[{}]}"#, "[]"])
    func garbageIsNoCrash(text: String) throws {
        #expect(!TimelineText.of(try JSONValue(parsing: Data(text.utf8))).isEmpty)
    }

    @Test(arguments: [
        [], ["--apns-id", "a", "--user", "b"], ["--apns-id", "a", "--limit", "3"],
        ["--notification", "n", "--cursor", "c"],
    ])
    func wrongOptionsAreRefused(words: [String]) {
        #expect(throws: (any Error).self) { _ = try TimelineCommand.parse(words) }
    }
}
