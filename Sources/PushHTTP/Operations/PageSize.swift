/// The number of entries in one page of a list.
package enum PageSize {
    package static let standard: Int64 = 100
    package static let range: ClosedRange<Int64> = 1...1000
}
