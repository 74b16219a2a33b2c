import NIOCore
import PushTesting
import Testing

@testable import PushWire

@Suite struct StreamTableTests {
    private struct Entry: StreamTableEntry {
        var id: UInt32
        var ticket: Int
    }

    @Test func itFindsWhatADictionaryFinds() {
        var generator = SeededGenerator(seed: 7)
        var table = StreamTable<Entry>()
        var dictionary: [UInt32: Int] = [:]
        var nextID: UInt32 = 1
        for step in 0..<20_000 {
            if dictionary.isEmpty || Int.random(in: 0...1000, using: &generator) < (step / 5000 % 2 == 0 ? 600 : 400) {
                table.insert(Entry(id: nextID, ticket: step))
                dictionary[nextID] = step
                nextID += UInt32.random(in: 1...40, using: &generator) * 2
            } else if let id = dictionary.keys.randomElement(using: &generator) {
                #expect(table.remove(id)?.ticket == dictionary.removeValue(forKey: id))
                #expect(table.remove(id) == nil)
            }
            #expect(table.count == dictionary.count)
            if step % 500 == 0 {
                for (id, ticket) in dictionary { #expect(table.position(of: id).map { table[$0].ticket } == ticket) }
            }
        }
        #expect(table.removeAll().map(\.id) == dictionary.keys.sorted())
        #expect(table.position(of: 0) == nil)
    }
}
