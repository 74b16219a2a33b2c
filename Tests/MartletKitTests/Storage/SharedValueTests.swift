import Foundation
import Testing

@testable import MartletKit

@Suite("Shared values") struct SharedValueTests {
    private func text(_ data: Data?) -> String? { data.map { String(decoding: $0, as: UTF8.self) } }

    @Test("A change that meets another one is repeated upon its result")
    func conflict() throws {
        let storage = MemoryStorage()
        let value = SharedValue(storage: storage, prefix: "v-")
        var calls = 0
        let seen = try value.update { old in
            calls += 1
            // Another process is faster once.
            if calls == 1 { _ = try storage.insert(Data("other".utf8), for: "v-1") }
            return (Data("mine".utf8), self.text(old))
        }
        #expect(seen == "other")
        #expect(calls == 2)
        #expect(self.text(try value.read()) == "mine")
    }

    @Test("A change that was held up until its number had been used and removed is repeated")
    func heldUp() throws {
        let storage = MemoryStorage()
        let value = SharedValue(storage: storage, prefix: "v-")
        var calls = 0
        let seen = try value.update { old in
            calls += 1
            if calls == 1 {
                for number in 1...40 { try value.update { _ in (Data("\(number)".utf8), ()) } }
            }
            return (Data("mine".utf8), self.text(old))
        }
        #expect(seen == "40")
        #expect(calls == 2)
        #expect(self.text(try value.read()) == "mine")
        #expect(try storage.names().count <= 18)
    }

    @Test("Replaced values do not stay, and all are removed together")
    func replaced() throws {
        let storage = MemoryStorage()
        let value = SharedValue(storage: storage, prefix: "v-")
        for number in 1...40 { try value.update { _ in (Data("secret \(number)".utf8), ()) } }
        #expect(storage.all.filter { !$0.value.isEmpty }.map(\.key) == ["v-40"])
        // Another process may have emptied what this one is about to read.
        try storage.write(Data(), for: "v-41")
        #expect(try value.read() == Data())
        try value.removeAll()
        #expect(storage.all.isEmpty)
    }

    @Test("Names of others and numbers in another form do not count")
    func otherNames() throws {
        let names = [
            "v-", "v-0", "v--1", "v-01", "v-9223372036854775807", "v-99999999999999999999", "v-x", "w-7", "v-+3",
        ]
        let value = SharedValue(
            storage: MemoryStorage(.init(uniqueKeysWithValues: names.map { ($0, Data("x".utf8)) })),
            prefix: "v-"
        )
        #expect(try value.read() == nil)
        try value.update { _ in (Data("1".utf8), ()) }
        #expect(self.text(try value.read()) == "1")
    }

    @Test("A storage that fails is reported, and one that never settles does not loop for ever")
    func failures() throws {
        let storage = MemoryStorage()
        let value = SharedValue(storage: storage, prefix: "v-")
        storage.fail()
        #expect(throws: MemoryStorage.Failure.self) { try value.read() }
        storage.fail(false)
        #expect(throws: SharedValue.ContentionError.self) {
            try value.update { old in
                let next = (Int(self.text(old) ?? "") ?? 0) + 1
                _ = try storage.insert(Data("\(next)".utf8), for: "v-\(next)")
                return (Data("mine".utf8), ())
            }
        }
    }
}
