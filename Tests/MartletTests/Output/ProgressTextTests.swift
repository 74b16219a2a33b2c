import Testing

@testable import martlet

@Suite struct ProgressTextTests {
    @Test(
        arguments: [
            (0, 10, nil, nil, "[..............................] 0 of 10"),
            (5, 10, 2.4, 3, "[###############...............] 5 of 10, 2/s, 0:03 left"),
            (20, 10, nil, 3725, "[##############################] 20 of 10, 1:02:05 left"),
            (7, nil, nil, nil, "7"), (7, 0, Double.infinity, -5, "7, 0:00 left"),
        ] as [(Int, Int?, Double?, Int?, String)]
    )
    func progressIsABarWithNumbers(done: Int, total: Int?, rate: Double?, left: Int?, text: String) {
        #expect(ProgressText.of(done: done, total: total, rate: rate, secondsLeft: left) == text)
    }
}
