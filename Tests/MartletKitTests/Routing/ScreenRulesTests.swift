import Foundation
import MartletKit
import Testing

@Suite("Screen rules") struct ScreenRulesTests {
    private func fault(_ json: String) -> String? {
        do throws(ScreenRulesError) {
            _ = try ScreenRules(json: Data(json.utf8))
            return nil
        } catch { return error.description }
    }

    /// Returns the fault of a file with one screen beside the fallback.
    private func fault(screen: String) -> String? {
        self.fault(#"{"version":1,"fallback":"home","screens":[{"name":"home"},\#(screen)]}"#)
    }

    @Test("A file says the same as code")
    func file() throws {
        let file = """
            {
              "version": 1,
              "fallback": "home",
              "screens": [
                { "name": "home" },
                {
                  "name": "order", "class": "Order", "path": "/orders/:id",
                  "parameters": [
                    { "name": "id", "type": "integer", "minimum": 1, "maximum": 9 },
                    { "name": "tab", "type": "choice", "choices": ["items", "notes"], "required": false },
                    { "name": "note", "type": "text", "maximumLength": 80, "required": false },
                    { "name": "text", "type": "text", "required": false },
                    { "name": "share", "type": "number", "minimum": 0, "maximum": 0.5, "required": false },
                    { "name": "any", "type": "number", "required": false },
                    { "name": "open", "type": "boolean", "required": false },
                    { "name": "at", "type": "date", "required": false },
                    { "name": "key", "type": "uuid", "required": true }
                  ]
                }
              ]
            }
            """
        let order = NotificationScreen(
            name: "order",
            class: "Order",
            path: "/orders/:id",
            parameters: [
                .integer("id", in: 1...9), .choice("tab", of: ["items", "notes"], isRequired: false),
                .text("note", maximumLength: 80, isRequired: false), .text("text", isRequired: false),
                .number("share", in: 0...0.5, isRequired: false), .number("any", isRequired: false),
                .boolean("open", isRequired: false), .date("at", isRequired: false), .uuid("key"),
            ]
        )
        let rules = try ScreenRules(screens: [NotificationScreen(name: "home"), order], fallback: "home")
        #expect(try ScreenRules(json: Data(file.utf8)) == rules)
    }

    @Test(
        "A faulty file is refused with the place of the fault",
        arguments: [
            ("", ": this is no JSON text"), ("[]", "it must be an object"), ("{}", "version: it must be 1"),
            (#"{"version":2}"#, "version: it must be 1"), (#"{"version":"1"}"#, "version: it must be 1"),
            (#"{"version":1}"#, "screens: it must be an array"),
            (#"{"version":1,"screens":{}}"#, "screens: it must be an array"),
            (#"{"version":1,"screens":[],"fallback":"a"}"#, "screens: there must be 1 to 500"),
            (#"{"version":1,"screens":[1],"fallback":"a"}"#, "screens[0]: it must be an object"),
            (#"{"version":1,"screens":[{"name":"a"}]}"#, "fallback: it must be a text"),
            (
                #"{"version":1,"screens":[{"name":"a"}],"fallback":"b"}"#,
                "fallback: no screen has this name"
            ),
            (
                #"{"version":1,"screens":[{"name":"a","class":"A"}],"fallback":"b"}"#,
                "fallback: no screen has this name"
            ),
            (#"{"version":1,"screens":[],"fallback":"a","extra":1}"#, "extra: unknown member; known are"),
        ]
    )
    func faultyFiles(json: String, expected: String) throws {
        let fault = try #require(self.fault(json))
        #expect(fault.contains(expected.hasPrefix(":") ? String(expected.dropFirst(2)) : expected), "\(fault)")
    }

    @Test(
        "A faulty screen is refused with the place of the fault",
        arguments: [
            (#"{}"#, "screens[1].name: it must be a text"),
            (#"{"name":""}"#, "screens[1].name: it must have 1 to 64"),
            (#"{"name":"a b","class":"A"}"#, "screens[1].name: it must have 1 to 64"),
            (#"{"name":"home","class":"A"}"#, "screens[1].name: another screen has this name"),
            (#"{"name":"a"}"#, "screens[1]: it has neither a class nor a path"),
            (#"{"name":"a","class":""}"#, "screens[1].class: it must have 1 to 128"),
            (#"{"name":"a","class":"A\u0000"}"#, "screens[1].class: it must have 1 to 128"),
            (#"{"name":"a","class":1}"#, "screens[1].class: it must be a text"),
            (#"{"name":"a","klass":"A"}"#, "screens[1].klass: unknown member"),
            (#"{"name":"a","class":"A"},{"name":"b","class":"A"}"#, "screens[2].class: another screen has this class"),
            (#"{"name":"a","path":"a"}"#, "screens[1].path: it must begin with /"),
            (#"{"name":"a","path":"/a//b"}"#, "screens[1].path: its segments"),
            (#"{"name":"a","path":"/../b"}"#, "screens[1].path: its segments"),
            (#"{"name":"a","path":"/a b"}"#, "screens[1].path: its segments"),
            (#"{"name":"a","path":"/a/:id"}"#, "screens[1].path: the screen has no parameter id"),
            (
                #"{"name":"a","path":"/:x/:x","parameters":[{"name":"x","type":"date"}]}"#,
                "screens[1].path: the parameter x is in it twice"
            ),
            (
                #"{"name":"a","path":"/:x","parameters":[{"name":"x","type":"date"}]},"#
                    + #"{"name":"b","path":"/:y","parameters":[{"name":"y","type":"date"}]}"#,
                "screens[2].path: another screen's path matches the same paths"
            ),
            (#"{"name":"a","class":"A","parameters":{}}"#, "screens[1].parameters: it must be an array"),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x"}]}"#,
                "screens[1].parameters[0].type: it must be a text"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"int"}]}"#,
                "screens[1].parameters[0].type: use text, integer, number, boolean, date, uuid or choice"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"integer","minimun":1}]}"#,
                "screens[1].parameters[0].minimun: unknown member"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"integer","minimum":2,"maximum":1}]}"#,
                "screens[1].parameters[0]: minimum is above maximum"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"integer","minimum":1.5}]}"#,
                "screens[1].parameters[0].minimum: it must be a whole number"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"text","maximumLength":0}]}"#,
                "screens[1].parameters[0].maximumLength: use 1 to 4096"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"text","maximumLength":99999999999999}]}"#,
                "screens[1].parameters[0].maximumLength: use 1 to 4096"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"choice","choices":[]}]}"#,
                "screens[1].parameters[0].choices: use 1 to 100"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"choice","choices":["a","a"]}]}"#,
                "screens[1].parameters[0].choices: use 1 to 100 different"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"choice","choices":[1]}]}"#,
                "screens[1].parameters[0].choices[0]: it must be a text"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"date","required":"no"}]}"#,
                "screens[1].parameters[0].required: use true or false"
            ),
            (
                #"{"name":"a","class":"A","parameters":[{"name":"x","type":"date"},{"name":"x","type":"uuid"}]}"#,
                "screens[1].parameters[1].name: another parameter of the screen has this name"
            ),
        ]
    )
    func faultyScreens(screen: String, expected: String) throws {
        let fault = try #require(self.fault(screen: screen))
        #expect(fault.hasPrefix(expected), "\(fault)")
    }

    @Test("Too many screens, parameters and segments are refused, and a fallback with required parameters")
    func bounds() {
        let screens = (0...500).map { #"{"name":"s\#($0)","class":"\#($0)"}"# }.joined(separator: ",")
        #expect(self.fault(screen: screens)?.hasPrefix("screens: there must be 1 to 500") == true)
        let parameters = (0...32).map { #"{"name":"p\#($0)","type":"date"}"# }.joined(separator: ",")
        #expect(
            self.fault(screen: #"{"name":"a","class":"A","parameters":[\#(parameters)]}"#)
                == "screens[1].parameters: there must be at most 32"
        )
        let path = String(repeating: "/a", count: 17)
        #expect(
            self.fault(screen: #"{"name":"a","path":"\#(path)"}"#)
                == "screens[1].path: it must have at most 16 segments"
        )
        let long = #"{"name":"a","path":"/\#(String(repeating: "a", count: 256))"}"#
        #expect(self.fault(screen: long)?.hasPrefix("screens[1].path: it must begin") == true)
        #expect(
            self.fault(
                #"{"version":1,"fallback":"a","screens":[{"name":"a","parameters":[{"name":"x","type":"date"}]}]}"#
            ) == "fallback: its screen needs x, and a fallback gets no values"
        )
        let spaces = String(repeating: " ", count: 256 * 1024)
        #expect(self.fault("{}" + spaces)?.contains("at most 256 KiB") == true)
    }
}
