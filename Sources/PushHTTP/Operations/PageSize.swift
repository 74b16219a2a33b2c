/// The number of entries in one page of a list, which a request chooses with the query item `limit`.
package enum PageSize {
    package static let standard: Int64 = 100
    package static let range: ClosedRange<Int64> = 1...1000
}
